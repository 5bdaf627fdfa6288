/* SPDX-License-Identifier: BSD-2-Clause */
/* The field Host of a request: the whole value counts, and one that is damaged is not a name of this host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/metrics/http_host.h"

static enum http_host
find(const char *header, size_t length)
{
	char *copy = malloc(length); /* a sanitizer finds a read past its end */
	enum http_host found;

	assert_non_null(copy);
	memcpy(copy, header, length);
	found = http_host_find(copy, length);
	free(copy);
	return found;
}

static enum http_host
find_value(const char *value)
{
	char header[512];
	int length = snprintf(header, sizeof header, "Accept: */*\r\nHOST:%s\r\nUser-Agent: test\r\n\r\n", value);

	return find(header, (size_t)length);
}

static void
test_local(void **state)
{
	static const char *const values[] = {
	    "localhost",       " localhost:9100", " LocalHost\t", "\tlocalhost.", " localhost.:1", " 127.0.0.1",
	    " 127.0.0.1:9100", " 127.255.3.4",	  " [::1]",	  " [::1]:65535", " [0:0:0::0:1]",
	    " localhost:",     " [::1]:",	  "127.0.0.1:",	  " IP6-Loopback",  " ip6-localhost:80",
	    " [::ffff:127.0.0.1]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		assert_int_equal(find_value(values[i]), HTTP_HOST_LOCAL);
}

static void
test_other(void **state)
{
	static const char *const values[] = {
	    "",
	    " evil.example",
	    " localhost.evil.example",
	    " localhost..",
	    " localhost:9100.evil.example",
	    " localhost:9100:80",
	    " localhost:+9100",
	    " localhost: 9100",
	    " localhost:65536",
	    " localhost:000009100",
	    " localhost evil.example",
	    " evil.example, localhost",
	    " evil.example@localhost",
	    " 127.0.0.1.evil.example",
	    " 127.0.0.1.",
	    " 127.1",
	    " 0127.0.0.1",
	    " 128.0.0.1",
	    " 0.0.0.0",
	    " [::1].evil.example",
	    " [::1]evil.example",
	    " [::1",
	    " ::1",
	    " [::2]",
	    " [::ffff:128.0.0.1]",
	    " [::127.0.0.1]",
	    " ip6-localhost.evil.example",
	    " ip6-localnet",
	    " localhost::",
	    " [localhost]",
	    " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		assert_int_equal(find_value(values[i]), HTTP_HOST_OTHER);
}

#define FIND(text) find((text), sizeof(text) - 1)

static void
test_none(void **state)
{
	(void)state;
	assert_int_equal(FIND("\r\n"), HTTP_HOST_NONE);
	assert_int_equal(FIND("X-Host: localhost\r\nHostname: localhost\r\n\r\n"), HTTP_HOST_NONE);
}

static void
test_invalid(void **state)
{
	(void)state;
	assert_int_equal(FIND("Host: localhost\0.evil.example\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host: localhost\r\nA: b\0c\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host: localhost\r\nhost: localhost\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host: localhost\r\nA: b\nHost: evil.example\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host: localhost\r.evil.example\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host: localhost\r\n .evil.example\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host : localhost\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND(" Host: localhost\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("localhost\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND(": localhost\r\n\r\n"), HTTP_HOST_INVALID);
	assert_int_equal(FIND("Host: localhost\r\n"), HTTP_HOST_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_local),
	    cmocka_unit_test(test_other),
	    cmocka_unit_test(test_none),
	    cmocka_unit_test(test_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
