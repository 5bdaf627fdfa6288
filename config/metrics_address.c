/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/metrics_address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static bool
metrics_address_parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*port = htons((uint16_t)value);
	return *text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= 65535;
}

bool
metrics_address_parse(const char *text, union metrics_address *address, socklen_t *size)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : 0;
	char host[INET6_ADDRSTRLEN + 2];

	memset(address, 0, sizeof *address);
	if (length == 0 || length >= sizeof host)
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	if (host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		address->in6.sin6_family = AF_INET6;
		*size = sizeof address->in6;
		return inet_pton(AF_INET6, host + 1, &address->in6.sin6_addr) == 1 &&
		       metrics_address_parse_port(colon + 1, &address->in6.sin6_port);
	}
	address->in.sin_family = AF_INET;
	*size = sizeof address->in;
	return inet_pton(AF_INET, host, &address->in.sin_addr) == 1 &&
	       metrics_address_parse_port(colon + 1, &address->in.sin_port);
}

bool
metrics_address_is_loopback(const union metrics_address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr);
	return ntohl(address->in.sin_addr.s_addr) >> 24 == 127;
}
