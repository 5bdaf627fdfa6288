/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS: the size of the state, the fingerprint of the specification, first bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "apps/tls/tls_ja4.h"
#include "apps/tls/tls_reader.h"

static void
test_state_is_small(void **state)
{
	(void)state;
	assert_true(sizeof(struct tls_connection) <= 1536);
}

/* The example of the JA4 specification. */
static void
test_fingerprint_of_the_specification(void **state)
{
	struct tls_client client = {
	    .cipher = {0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013, 0xc014, 0x009c,
		       0x009d, 0x002f, 0x0035},
	    .ciphers = 15,
	    .extension = {0x001b, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002d, 0x000d, 0x0005, 0x0023, 0x0012,
			  0x002b, 0xff01, 0x000b, 0x000a, 0x0015},
	    .extensions = 16,
	    .signature = {0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601},
	    .signatures = 8,
	    .version = TLS_1_3,
	    .alpn_first = 'h',
	    .alpn_last = '2',
	    .alpn_length = 2,
	    .named = true,
	};
	char ja4[TLS_JA4_SIZE];

	(void)state;
	tls_ja4(&client, ja4);
	assert_string_equal(ja4, "t13d1516h2_8daaf6152771_e5627efa2ab1");
	client.too_many = true;
	tls_ja4(&client, ja4);
	assert_string_equal(ja4, "");
}

static void
test_first_bytes(void **state)
{
	uint8_t hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, sslv2[] = {0x80, 46, 1, 3, 1};

	(void)state;
	assert_true(tls_is_client_hello((struct slice){hello, sizeof hello}));
	for (uint32_t n = 0; n < sizeof hello; n++)
		assert_false(tls_is_client_hello((struct slice){hello, n}));
	assert_true(tls_is_sslv2_hello((struct slice){sslv2, sizeof sslv2}));
	assert_false(tls_is_sslv2_hello((struct slice){hello, sizeof hello}));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_state_is_small),
	    cmocka_unit_test(test_fingerprint_of_the_specification),
	    cmocka_unit_test(test_first_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
