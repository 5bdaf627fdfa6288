/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "apps/tls/tls_reader.h"

static void
test_tls_reader(void **state)
{
	(void)state;
	assert_false(tls_reader.is_reading(NULL, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tls_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
