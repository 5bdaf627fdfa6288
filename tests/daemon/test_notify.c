/* SPDX-License-Identifier: BSD-2-Clause */
/* The interval of watchdog notifications, which the environment defines, and datagrams to the service manager. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/service.h"

static int manager;

/* The socket of a service manager, at an abstract address. */
static int
set_up(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char name[sizeof address.sun_path];
	int length = snprintf(name, sizeof name, "@netobs-test-%ld", (long)getpid());

	(void)state;
	memcpy(address.sun_path + 1, name + 1, (size_t)length - 1);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return manager < 0 || setenv("NOTIFY_SOCKET", name, 1) != 0 ||
	       bind(manager, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length)) != 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return close(manager);
}

static uint64_t
interval(void)
{
	struct notify *notify = notify_open();
	uint64_t ns = notify_watchdog_interval(notify);

	assert_non_null(notify);
	notify_close(notify);
	return ns;
}

static void
test_watchdog(void **state)
{
	char pid[32];

	(void)state;
	assert_int_equal(interval(), 0);
	assert_int_equal(notify_watchdog_interval(NULL), 0);
	assert_int_equal(setenv("WATCHDOG_USEC", "100000", 1), 0);
	assert_int_equal(interval(), 50000000);
	snprintf(pid, sizeof pid, "%ld", (long)getpid());
	assert_int_equal(setenv("WATCHDOG_PID", pid, 1), 0);
	assert_int_equal(interval(), 50000000);
	assert_int_equal(setenv("WATCHDOG_PID", "1", 1), 0); /* of another process */
	assert_int_equal(interval(), 0);
}

static void
test_datagrams(void **state)
{
	struct notify *notify = notify_open();
	char text[64];

	(void)state;
	assert_non_null(notify);
	notify_send(notify, "READY=1\nSTATUS=%d", 7);
	assert_int_equal(recv(manager, text, sizeof text, 0), 16);
	assert_memory_equal(text, "READY=1\nSTATUS=7", 16);
	notify_send_reloading(notify);
	assert_true(recv(manager, text, sizeof text, 0) > 28);
	assert_memory_equal(text, "RELOADING=1\nMONOTONIC_USEC=", 27);
	notify_close(notify);
	notify_send(NULL, "READY=1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_watchdog, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_datagrams, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
