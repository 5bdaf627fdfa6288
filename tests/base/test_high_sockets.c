/* SPDX-License-Identifier: BSD-2-Clause */
/* High descriptors: the boundary that is chosen below a limit, and which sockets are moved.  Each case is a process of
 * its own, because a limit cannot be raised again and the boundary is chosen once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/high_sockets.h"

#define REFUSED 0

/* What high_sockets_reserve() chooses with these limits of open files. */
struct reservation {
	rlim_t soft, hard;
	unsigned high, low, least;
	unsigned boundary; /* REFUSED: no boundary */
	rlim_t soft_after;
};

static void
reserve(const struct reservation *wanted)
{
	struct rlimit limit = {wanted->soft, wanted->hard};

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(high_sockets_boundary(), 0);
	assert_false(high_sockets_include(5));
	assert_int_equal(high_sockets_reserve(wanted->high, wanted->low, wanted->least), wanted->boundary != REFUSED);
	assert_int_equal(high_sockets_boundary(), wanted->boundary);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(limit.rlim_cur, wanted->soft_after);
	assert_int_equal(limit.rlim_max, wanted->hard);
}

/* Runs `function` in a child, in which an assertion that fails ends the process. */
static void
in_child(void (*function)(const struct reservation *), const struct reservation *wanted)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		function(wanted);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
test_boundary(void **state)
{
	static const struct reservation cases[] = {
	    {1024, 1024, 2, 79, 25, 128, 1024},
	    {1024, 1024, 2, 64, 25, 64, 1024},
	    {100, 200, 2, 79, 25, 128, 130}, /* raised as far as needed */
	    {100, 100, 2, 79, 25, 64, 100},  /* fewer than wanted */
	    {64, 64, 2, 79, 25, 32, 64},     /* half, because both do not fit */
	    {1024, 4096, 256, 1152, 600, 2048, 2304},
	    {1024, 1024, 256, 1152, 500, 512, 1024},
	    {1024, 1024, 256, 1152, 600, REFUSED, 1024},
	    {32, 32, 64, 79, 25, REFUSED, 32}, /* not even the sockets */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		in_child(reserve, &cases[i]);
}

/* With no low descriptor left a socket is high at once, and nothing is duplicated: the filter would not permit it. */
static void
move_nothing(void)
{
	int low[64], count = 0, next = fcntl(0, F_DUPFD_CLOEXEC, 64), fd;

	close(next);
	while ((fd = fcntl(0, F_DUPFD_CLOEXEC, 0)) < 64)
		low[count++] = fd;
	close(fd);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	assert_int_equal(fd, next);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	while (count > 0)
		close(low[--count]);
}

static void
move(const struct reservation *wanted)
{
	int fd;

	assert_true(high_sockets_reserve(1, 60, 32));
	assert_true(socket(AF_UNIX, SOCK_DGRAM, 0) < 64);
	assert_true(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) < 64);
	assert_true(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) < 64);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
	assert_true(fd >= 64 || (fd == -1 && errno == EPROTONOSUPPORT));
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd == -1 && (errno == EPERM || errno == EAFNOSUPPORT))
		return;
	assert_true(high_sockets_include(fd));
	assert_false(high_sockets_include(63));
	assert_false(high_sockets_include(-1));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	move_nothing();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}), 0);
	/* Rather no socket than a low one. */
	assert_int_equal(socket(AF_PACKET, SOCK_RAW, 0), -1);
	assert_int_equal(errno, EMFILE);
	(void)wanted;
}

static void
test_moved(void **state)
{
	(void)state;
	in_child(move, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_boundary), cmocka_unit_test(test_moved)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
