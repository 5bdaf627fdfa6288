/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/metrics/http_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "", ":" (RFC 3986 section 3.2.3) or ":9100". */
static bool
http_host_is_port(const char *text)
{
	size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;

	return *text == '\0' ||
	       (*text == ':' && digits <= 5 && text[1 + digits] == '\0' && strtoul(text + 1, NULL, 10) <= 65535);
}

/* Whether an address is ::1, or one of 127.0.0.0/8 in IPv6. */
static bool
http_address_is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

/* The names that /etc/hosts of Debian gives loopback; another host cannot have one of these names in the DNS. */
static bool
http_name_is_loopback(const char *name)
{
	static const char *const names[] = {"localhost", "localhost.", "ip6-localhost", "ip6-loopback"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

/* A name of loopback, "127.0.0.1" or "[::1]", without or with a port: nothing before it, and nothing after. */
static bool
http_host_is_loopback(const char *value, size_t length)
{
	char host[INET6_ADDRSTRLEN + sizeof "[]:65535"], *port, *name = host;
	struct in6_addr address6;
	struct in_addr address;

	if (length >= sizeof host)
		return false;
	memcpy(host, value, length);
	host[length] = '\0';
	port = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
	if (port == NULL || !http_host_is_port(host[0] == '[' ? port + 1 : port))
		return false;
	*port = '\0';
	if (*name == '[')
		return inet_pton(AF_INET6, name + 1, &address6) == 1 && http_address_is_loopback(&address6);
	if (inet_pton(AF_INET, name, &address) == 1)
		return ntohl(address.s_addr) >> 24 == 127;
	return http_name_is_loopback(name);
}

/* Whether a line is a name, a colon and a value: no blank before the colon (RFC 9112 section 5.1), and no CR or LF. */
static bool
http_line_is_field(const char *line, size_t length)
{
	const char *colon = memchr(line, ':', length);

	if (colon == NULL || colon == line || memchr(line, '\n', length) != NULL || memchr(line, '\r', length) != NULL)
		return false;
	for (const char *at = line; at < colon; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return true;
}

enum http_host
http_host_find(const char *header, size_t length)
{
	static const char name[] = "host:";
	const char *end;
	enum http_host found = HTTP_HOST_NONE;

	if (memchr(header, '\0', length) != NULL)
		return HTTP_HOST_INVALID;
	for (; (end = memmem(header, length, "\r\n", 2)) != header;
	     length -= (size_t)(end + 2 - header), header = end + 2) {
		const char *value = header + sizeof name - 1, *after = end;

		if (end == NULL || !http_line_is_field(header, (size_t)(end - header)))
			return HTTP_HOST_INVALID;
		if (strncasecmp(header, name, sizeof name - 1) != 0)
			continue;
		if (found != HTTP_HOST_NONE)
			return HTTP_HOST_INVALID;
		while (value < after && (*value == ' ' || *value == '\t'))
			value++;
		while (value < after && (after[-1] == ' ' || after[-1] == '\t'))
			after--;
		found = http_host_is_loopback(value, (size_t)(after - value)) ? HTTP_HOST_LOCAL : HTTP_HOST_OTHER;
	}
	return found;
}
