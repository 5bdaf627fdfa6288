/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/metrics/metrics_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/query/unix_socket.h"

#define BACKLOG 64

union inet_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static bool
metrics_parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*port = htons((uint16_t)value);
	return *text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= 65535;
}

/* "127.0.0.1:9100" or "[::1]:9100". */
static bool
metrics_parse_address(const char *text, union inet_address *address, socklen_t *size)
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
		       metrics_parse_port(colon + 1, &address->in6.sin6_port);
	}
	address->in.sin_family = AF_INET;
	*size = sizeof address->in;
	return inet_pton(AF_INET, host, &address->in.sin_addr) == 1 &&
	       metrics_parse_port(colon + 1, &address->in.sin_port);
}

static bool
metrics_is_loopback(const union inet_address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr);
	return ntohl(address->in.sin_addr.s_addr) >> 24 == 127;
}

/* What a message about an address adds to the reason.  A kernel without IPv6 refuses its sockets with the same error as
 * RestrictAddressFamilies= does. */
static const char *
metrics_explain(const union inet_address *address, int error)
{
	if (error != EAFNOSUPPORT)
		return "";
	if (address->any.sa_family == AF_INET6 && access("/proc/self/net", X_OK) == 0 &&
	    access("/proc/self/net/if_inet6", F_OK) != 0)
		return "; the kernel has no IPv6, use an IPv4 address";
	return unit_clause("RestrictAddressFamilies= and IPAddressDeny= of the unit forbid IP");
}

/* Whether a datagram of this process reaches the host's own address: IPAddressDeny= has no effect on socket(), bind()
 * and listen(), and a packet that it rejects disappears. */
static bool
metrics_reach_host(const union inet_address *address, socklen_t size)
{
	int fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
	union inet_address own = *address;
	bool reached;

	/* Both families have the port at the same place; 0 chooses a free one. */
	own.in.sin_port = 0;
	reached = fd >= 0 && bind(fd, &own.any, size) == 0 && getsockname(fd, &own.any, &size) == 0 &&
		  sendto(fd, "", 0, 0, &own.any, size) == 0;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return reached;
}

/* Outside a unit the clause is empty, and nothing is sent. */
static void
metrics_warn_unreachable(const char *text, const union inet_address *address, socklen_t size)
{
	const char *clause = unit_clause("IPAddressDeny= of the unit may forbid it");

	if (*clause != '\0' && metrics_is_loopback(address) && !metrics_reach_host(address, size))
		log_warning("no client can reach the metrics at %s: %s%s", text, strerror(errno), clause);
}

static int
metrics_listen_inet(const char *text, const union inet_address *address, socklen_t size)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, error;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	    bind(fd, &address->any, size) == 0 && listen(fd, BACKLOG) == 0) {
		metrics_warn_unreachable(text, address, size);
		return fd;
	}
	error = errno;
	log_error("cannot serve metrics at %s: %s%s", text, strerror(error), metrics_explain(address, error));
	if (fd >= 0)
		close(fd);
	return -1;
}

bool
metrics_socket_is_local(const char *text)
{
	union inet_address address;
	socklen_t size;

	return metrics_parse_address(text, &address, &size) && metrics_is_loopback(&address);
}

int
metrics_socket_listen(const struct config *config, const struct unix_socket_access *access)
{
	const char *text = config->metrics_address;
	union inet_address address;
	socklen_t size;

	if (strncmp(text, "unix:", 5) == 0)
		return unix_socket_listen(text + 5, access, "metrics");
	if (!metrics_parse_address(text, &address, &size)) {
		log_error("--metrics %s: expected unix:PATH, ADDRESS:PORT or [ADDRESS]:PORT", text);
		return -1;
	}
	if (!metrics_is_loopback(&address) && !config->metrics_allow_remote) {
		log_error("--metrics %s: other hosts can reach this address; to allow that, add "
			  "--metrics-anywhere",
			  text);
		return -1;
	}
	return metrics_listen_inet(text, &address, size);
}
