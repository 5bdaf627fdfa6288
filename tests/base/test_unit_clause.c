/* SPDX-License-Identifier: BSD-2-Clause */
/* A message names a setting of the unit only if the service manager has started the process, and if the setting can be
 * the reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/path.h"

#define MANUAL " (systemctl edit can permit it: netobsd(8), What the unit forbids)"

static void
set_started_process(long pid)
{
	char text[32];

	snprintf(text, sizeof text, "%ld", pid);
	assert_int_equal(setenv("SYSTEMD_EXEC_PID", text, 1), 0);
}

static int
in_unit(void **state)
{
	(void)state;
	set_started_process((long)getpid());
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return unsetenv("SYSTEMD_EXEC_PID");
}

static void
only_the_process_that_systemd_starts_is_in_a_unit(void **state)
{
	static const char *const others[] = {"", "x", " ", "-1", "0"};
	char text[64];

	(void)state;
	assert_string_equal(unit_clause("It forbids"), "; It forbids" MANUAL);
	set_started_process((long)getppid());
	assert_string_equal(unit_clause("It forbids"), "");
	snprintf(text, sizeof text, "%ldx", (long)getpid());
	setenv("SYSTEMD_EXEC_PID", text, 1);
	assert_string_equal(unit_clause("It forbids"), "");
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		setenv("SYSTEMD_EXEC_PID", others[i], 1);
		assert_string_equal(unit_clause("It forbids"), "");
		assert_string_equal(unit_clause_of_path("/home/a", EACCES), "");
		assert_string_equal(unit_clause_of_filter("unknown host 'a'"), "");
	}
	unsetenv("SYSTEMD_EXEC_PID");
	assert_string_equal(unit_clause("It forbids"), "");
}

/* Whether the clause for the path and the reason names the setting; NULL: there is no clause. */
static bool
names(const char *path, int reason, const char *setting)
{
	const char *clause = unit_clause_of_path(path, reason);

	if (setting == NULL)
		return *clause == '\0';
	return strncmp(clause, "; ", 2) == 0 && strncmp(clause + 2, setting, strlen(setting)) == 0 &&
	       strstr(clause, MANUAL) != NULL;
}

static void
a_path_has_the_setting_that_can_forbid_it(void **state)
{
	(void)state;
	assert_true(names("/var/log/records", EROFS, "ProtectSystem="));
	assert_true(names("records", EROFS, "ProtectSystem="));
	assert_true(names("/var/log/records", EACCES, NULL));
	assert_true(names("/var/log/records", ENOENT, NULL));
	assert_true(names("/home/a/file.pcap", EACCES, "ProtectHome="));
	assert_true(names("/home", EACCES, "ProtectHome="));
	assert_true(names("/root/file", ENOENT, "ProtectHome="));
	assert_true(names("/run/user/1000/socket", ENOENT, "ProtectHome="));
	assert_true(names("/homestead/file", EACCES, NULL));
	assert_true(names("/run/netobs/control", EACCES, NULL));
	assert_true(names("/home/a/file.pcap", EISDIR, NULL));
	assert_true(names("/tmp/a/file", ENOENT, "PrivateTmp="));
	assert_true(names("/var/tmp/a/file", ENOENT, "PrivateTmp="));
	assert_true(names("/tmp/a/file", EACCES, NULL));
	assert_true(names("/dev/ttyS0", ENOENT, "PrivateDevices="));
	assert_true(names("/dev/ttyS0", EPERM, "PrivateDevices="));
	assert_true(names("/dev/ttyS0", EBUSY, NULL));
}

static void
a_filter_with_a_host_name_has_the_setting(void **state)
{
	(void)state;
	assert_non_null(strstr(unit_clause_of_filter("unknown host 'a'"), "RestrictAddressFamilies="));
	assert_string_equal(unit_clause_of_filter("syntax error"), "");
}

static void
a_reason_keeps_errno(void **state)
{
	char error[OUTPUT_PATH_ERROR_MAX];

	(void)state;
	errno = EROFS;
	assert_int_equal(output_path_fail("/srv/file", error), -1);
	assert_int_equal(errno, EROFS);
	assert_string_equal(error, "Read-only file system; ProtectSystem= of the unit may forbid to write there"
			    MANUAL);
	tear_down(state);
	errno = EROFS;
	assert_int_equal(output_path_fail("/srv/file", error), -1);
	assert_string_equal(error, "Read-only file system");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(only_the_process_that_systemd_starts_is_in_a_unit, in_unit, tear_down),
	    cmocka_unit_test_setup_teardown(a_path_has_the_setting_that_can_forbid_it, in_unit, tear_down),
	    cmocka_unit_test_setup_teardown(a_filter_with_a_host_name_has_the_setting, in_unit, tear_down),
	    cmocka_unit_test_setup_teardown(a_reason_keeps_errno, in_unit, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
