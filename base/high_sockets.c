/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/high_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

static unsigned boundary;

/* Raises the limit of this process to `wanted` if it is lower.  Returns what is allowed then, at most `wanted`. */
static unsigned
high_sockets_raise_limit(unsigned wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return wanted;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 0;
	return (unsigned)limit.rlim_cur;
}

static unsigned
high_sockets_power_of_two(unsigned least)
{
	unsigned power = 1;

	while (power < least)
		power *= 2;
	return power;
}

bool
high_sockets_reserve(unsigned high, unsigned low, unsigned least)
{
	unsigned chosen = high_sockets_power_of_two(low), allowed = high_sockets_raise_limit(chosen + high);

	while (chosen > 0 && chosen + high > allowed)
		chosen /= 2;
	if (chosen < least) {
		log_error("at most %u files may be open (ulimit -n), and so many interfaces and workers need %u",
			  allowed, high_sockets_power_of_two(least) + high);
		return false;
	}
	if (chosen < low)
		log_warning("at most %u files may be open (ulimit -n): not all clients may be served at the same time",
			    allowed);
	log_debug(DEBUG_CONFINE, "sockets that capture have descriptors from %u on", chosen);
	boundary = chosen;
	return true;
}

unsigned
high_sockets_boundary(void)
{
	return boundary;
}

unsigned
high_sockets_others(void)
{
	struct rlimit limit;

	if (boundary != 0)
		return boundary;
	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT_MAX ? (unsigned)limit.rlim_cur : INT_MAX;
}

bool
high_sockets_include(int fd)
{
	return boundary != 0 && fd >= 0 && (unsigned)fd >= boundary;
}

/* --------------------------------------------------------------------------------------------------- all libraries */

/* Packet sockets, and those of libpcap for the interfaces nflog and nfqueue. */
static bool
high_sockets_capture(int domain, int protocol)
{
	return domain == AF_PACKET || (domain == AF_NETLINK && protocol == NETLINK_NETFILTER);
}

/* In place of the function of the C library. */
int
socket(int domain, int type, int protocol)
{
	int fd, moved, error;

	if (boundary == 0 || !high_sockets_capture(domain, protocol))
		return (int)syscall(SYS_socket, domain, type, protocol);
	fd = (int)syscall(SYS_socket, domain, type | SOCK_CLOEXEC, protocol);
	if (fd < 0 || high_sockets_include(fd)) /* the filter permits no duplicate of a high descriptor */
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)boundary);
	error = errno;
	close(fd);
	if (moved < 0)
		errno = error == EINVAL ? EMFILE : error; /* EINVAL: the limit is below the boundary */
	return moved;
}
