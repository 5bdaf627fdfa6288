/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "apps/dns/dns_reader.h"

static void
test_dns_reader(void **state)
{
	(void)state;
	assert_false(dns_reader.is_reading(NULL, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_dns_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
