/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions of matches: the fields that a definition reads, with their values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formulas/formula.h"
#include "tests/formulas/firing_sample.h"

#define TEXT_MAX 4096u

static struct firing_sample sample;

static int
set_up(void **state)
{
	(void)state;
	firing_sample_init(&sample);
	return 0;
}

static struct formula *
compile(const char *text)
{
	struct formula_error error;
	struct formula *formula = formula_compile(text, &error);

	if (formula == NULL)
		fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.message);
	return formula;
}

static void
expect(enum probe_id probe, const char *definition, const char *description)
{
	struct formula *formula = compile(definition);
	char text[TEXT_MAX];

	formula_describe_match(formula, firing_sample_fire(&sample, probe), text, sizeof text);
	formula_free(formula);
	assert_string_equal(text, description);
}

/* ------------------------------------------------------------------------------------------------------- the values */

static void
values_are_as_printed(void **state)
{
	(void)state;
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcp_dport == 443", "a: tcp_dport = 443");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where cs_zoneid < 0 && tcps_active < 0",
	       "a: cs_zoneid = -1, tcps_active = -1");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcps_srtt_us > 100ms && tcps_rto > 0",
	       "a: tcps_srtt_us = 150000 us, tcps_rto = 300 ms");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcps_snd_bytes > 1MB",
	       "a: tcps_snd_bytes = 2000000 bytes");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where ip_saddr in 192.0.2.0/24", "a: ip_saddr = 192.0.2.7");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where cs_comm ~ \"ng*\"", "a: cs_comm = nginx");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcps_state != closed",
	       "a: tcps_state = state-established");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcps_statestr == \"state-established\"",
	       "a: tcps_statestr = state-established");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcpr_kind == timeout", "a: tcpr_kind = timeout");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcp_flags & ACK", "a: tcp_flags = PSH|ACK");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcps_start > 0",
	       "a: tcps_start = 1970-01-01T00:00:01.000000000Z");
	expect(PROBE_IP_SEND, "a = ip-send where ipv4_src == 0xc0000207 && ipv4_ttl > 0",
	       "a: ipv4_src = 192.0.2.7, ipv4_ttl = 64");
	expect(PROBE_GLD_SEND, "a = gld-send where eth_dst[0] == 0 && eth_type == 0x800",
	       "a: eth_dst = 00005e005301, eth_type = 2048");
}

static void
values_without_a_word_are_numbers(void **state)
{
	(void)state;
	sample.tcps.tcps_state = 99;
	sample.tcp.tcp_flags = 0;
	sample.tcpr.tcpr_kind = 0;
	expect(PROBE_TCP_RETRANSMIT,
	       "a = tcp-retransmit where tcps_state != closed || tcp_flags == 0 || tcpr_kind == fast",
	       "a: tcps_state = 99, tcp_flags = 0x00, tcpr_kind = 0");
	sample.tcp.tcp_flags = 0xff;
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where tcp_flags & SYN",
	       "a: tcp_flags = FIN|SYN|RST|PSH|ACK|URG|ECE|CWR");
}

static void
text_is_escaped_and_cut(void **state)
{
	static const char bytes[] = "a\"b\\\n\x1b\xff";

	(void)state;
	memcpy(sample.cs.cs_comm, bytes, sizeof bytes);
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where cs_comm != \"x\"",
	       "a: cs_comm = a\"b\\\\\\x0a\\x1b\\xff");
	sample.cs.cs_comm[0] = '\0';
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where cs_comm != \"x\"", "a: cs_comm = \"\"");
}

/* The longest text without a NUL. */
static void
a_long_text_is_cut(void **state)
{
	static struct connrec record;
	struct formula *formula = compile("a = connection-end where name ~ \"*\"");
	struct firing firing = {.probe = PROBE_CONNECTION_END, .built = 0x3f, .args = {&record}};
	char text[TEXT_MAX], expected[TEXT_MAX] = "a: cr_name = ";

	(void)state;
	for (unsigned escaped = 0; escaped < 2; escaped++) {
		size_t length = strlen("a: cr_name = ");

		memset(record.cr_name, escaped ? 1 : 'x', sizeof record.cr_name);
		for (unsigned i = 0; i < (escaped ? 32 : 125); i++)
			length += (size_t)snprintf(expected + length, sizeof expected - length, "%s",
						   escaped ? "\\x01" : "x");
		snprintf(expected + length, sizeof expected - length, "...");
		formula_describe_match(formula, &firing, text, sizeof text);
		assert_string_equal(text, expected);
	}
	formula_free(formula);
}

/* A condition on the field, which no test decides. */
static const char *
condition_for(const struct field_info *field)
{
	switch (field->kind) {
	case FIELD_TEXT:
		return field->is_address ? " == 192.0.2.1" : " ~ \"*\"";
	case FIELD_BYTES:
		return "[0] == 0";
	case FIELD_POINTER:
		return " == NULL";
	default:
		return " == 0";
	}
}

/* Describes a field that is absent, all zeros, all ones. */
static void
expect_values(const struct formula *formula, enum probe_id probe, unsigned position, const struct field_info *field)
{
	static uint64_t bytes[512];
	char text[TEXT_MAX];

	assert_true(field->offset + field->size <= sizeof bytes);
	for (unsigned i = 0; i < 3; i++) {
		struct firing firing = {.probe = probe, .built = 0x3f};

		memset(bytes, i == 2 ? 0xff : 0, sizeof bytes);
		firing.args[position] = i > 0 ? bytes : NULL;
		formula_describe_match(formula, &firing, text, sizeof text);
		assert_true(strlen(text) < 300);
		if (strstr(text, field->name) == NULL || strlen(strrchr(text, '=')) < 3)
			fail_msg("%s", text);
		for (size_t c = 0; text[c] != '\0'; c++)
			assert_in_range(text[c], ' ', '~');
	}
}

/* Returns whether a definition can read the field. */
static bool
expect_field(enum probe_id probe, unsigned position, const struct field_info *field)
{
	struct formula_error error;
	struct formula *formula;
	char text[FORMULA_TEXT_MAX];

	if (field->kind == FIELD_NETWORK)
		assert_non_null(strstr(field->doc, "address"));
	if (field->unit == UNIT_NS)
		assert_non_null(strstr(field->doc, "ns since the epoch"));
	snprintf(text, sizeof text, "a = %s where args[%u]->%s%s", manifest_probes[probe].name, position, field->name,
		 condition_for(field));
	formula = formula_compile(text, &error);
	if (formula == NULL && strstr(error.message, "numbers the firings") != NULL)
		return false;
	if (formula == NULL)
		fail_msg("%s: %s", text, error.message);
	expect_values(formula, probe, position, field);
	formula_free(formula);
	return true;
}

static void
every_field_has_a_value_of_printable_text(void **state)
{
	unsigned described = 0;

	(void)state;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		for (unsigned j = 0; j < manifest_probes[i].arg_count; j++) {
			const struct struct_info *type = manifest_probes[i].args[j].type;

			for (size_t k = 0; type != NULL && k < type->field_count; k++)
				described += expect_field((enum probe_id)i, j, &type->fields[k]);
		}
	assert_true(described > 1000);
}

/* ------------------------------------------------------------------------------------------------------- the fields */

static void
fields_are_in_order_and_once(void **state)
{
	(void)state;
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit", "a");
	expect(PROBE_TCP_RETRANSMIT,
	       "a = tcp-retransmit where 80 < tcp_dport && (cs_pid in {1..200} ? tcp_sport : tcp_seq) > 1 && "
	       "args[4]->tcp_dport != tcp_sport && !(ip_saddr == ip_daddr)",
	       "a: tcp_dport = 443, cs_pid = 123, tcp_sport = 40000, tcp_seq = 4000000000, ip_saddr = 192.0.2.7, "
	       "ip_daddr = 198.51.100.80");
	expect(PROBE_TCP_STATE_CHANGE,
	       "a = tcp-state-change where args[5]->tcps_state == syn-sent && tcps_state == established && "
	       "args[3]->tcps_state == established",
	       "a: args[5]->tcps_state = state-syn-sent, tcps_state = state-established, "
	       "args[3]->tcps_state = state-established");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit where args[4] != NULL && pcap(\"tcp\") || tcp_hdr == NULL",
	       "a: args[4] != NULL, tcp_hdr = NULL");
	/* The same name at other places in the second probe. */
	expect(PROBE_TCP_STATE_CHANGE, "a = tcp-send, tcp-state-change where tcps_lport == 40000 || cs_cid == 7",
	       "a: tcps_lport = 40000, cs_cid = 42");
	expect(PROBE_TCP_SEND, "a = tcp-send, tcp-state-change where tcps_lport == 40000 || cs_cid == 7",
	       "a: tcps_lport = 40000, cs_cid = 42");
}

static const void *
build_nothing(struct firing *firing, unsigned position)
{
	(void)firing;
	if (position != 3 && position != 4)
		fail_msg("args[%u] is built", position);
	return position == 4 ? &sample.tcp : NULL;
}

static void
only_what_the_definition_reads_is_built(void **state)
{
	struct formula *formula = compile("a = tcp-send where tcp_dport == 443 || tcps_state == closed");
	struct firing firing = {.probe = PROBE_TCP_SEND, .build = build_nothing};
	char text[TEXT_MAX];

	(void)state;
	assert_true(formula_is_true(formula, &firing));
	assert_int_equal(firing.built, 1u << 4);
	formula_describe_match(formula, &firing, text, sizeof text);
	assert_string_equal(text, "a: tcp_dport = 443, tcps_state = -");
	assert_int_equal(firing.built, 1u << 3 | 1u << 4);
	formula_free(formula);
}

static void
a_probe_is_described_by_its_name(void **state)
{
	struct formula *formula = formula_new_for_probe(PROBE_TCP_CONNECT_REFUSED);
	struct firing *firing = firing_sample_fire(&sample, PROBE_TCP_CONNECT_REFUSED);
	char text[TEXT_MAX];

	(void)state;
	assert_non_null(formula);
	assert_true(formula_is_true(formula, firing));
	assert_false(formula_is_counted(formula));
	assert_true(formula_has_probe(formula, PROBE_TCP_CONNECT_REFUSED));
	assert_false(formula_has_probe(formula, PROBE_TCP_SEND));
	formula_describe_match(formula, firing, text, sizeof text);
	assert_string_equal(text, "tcp-connect-refused");
	formula_free(formula);
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		formula = formula_new_for_probe((enum probe_id)i);
		assert_non_null(formula);
		assert_string_equal(formula_name(formula), manifest_probes[i].name);
		formula_free(formula);
	}
}

/* --------------------------------------------------------------------------------------------------- the thresholds */

static void
a_threshold_is_described_with_its_fields(void **state)
{
	(void)state;
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 5 times in 10s", "a: the 5th in 10s");
	expect(PROBE_TCP_RETRANSMIT,
	       "a = tcp-retransmit where tcp_dport == 443, 2 times in 1500ms by cs_cid, tcp_dport",
	       "a: tcp_dport = 443, cs_cid = 42, the 2nd in 1500ms");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 1 times in 2h", "a: the 1st in 2h");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 3 times in 90s", "a: the 3rd in 90s");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 11 times in 60s", "a: the 11th in 1min");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 12 times in 7us", "a: the 12th in 7us");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 113 times in 7001ns", "a: the 113th in 7001ns");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 22 times in 1s", "a: the 22nd in 1s");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 10000 times in 1s", "a: the 10000th in 1s");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 20 distinct tcp_dport in 10s by ip_saddr",
	       "a: tcp_dport = 443, ip_saddr = 192.0.2.7, the 20th distinct tcp_dport in 10s");
	expect(PROBE_TCP_SEND, "a = tcp-send where tcp_window == 501 for 200ms by cs_cid",
	       "a: tcp_window = 501, cs_cid = 42, held for 200ms");
	expect(PROBE_TCP_SEND, "a = tcp-send where tcp_window == 501, no tcp-receive, udp-send within 5s by ip_daddr",
	       "a: tcp_window = 501, ip_daddr = 198.51.100.80, no udp-send, tcp-receive within 5s");
	expect(PROBE_TCP_RETRANSMIT, "a = tcp-retransmit, 3 distinct ip_daddr, tcp_dport in 10s",
	       "a: ip_daddr = 198.51.100.80, tcp_dport = 443, the 3rd distinct ip_daddr, tcp_dport in 10s");
}

/* --------------------------------------------------------------------------------------------------------- the size */

/* The description with at most `size` bytes, checked for bytes after them. */
static void
describe(const struct formula *formula, struct firing *firing, char *text, size_t size)
{
	memset(text, '#', TEXT_MAX);
	formula_describe_match(formula, firing, text, size);
	for (size_t i = size; i < TEXT_MAX; i++)
		assert_int_equal(text[i], '#');
	if (size > 0)
		assert_non_null(memchr(text, '\0', size));
}

static void
expect_cut(const char *definition, const char *const *cuts, size_t count)
{
	struct formula *formula = compile(definition);
	struct firing *firing = firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT);
	const char *name = formula_name(formula);
	char text[TEXT_MAX];

	for (size_t size = 0; size <= strlen(cuts[0]) + 1; size++) {
		size_t i = 0;

		describe(formula, firing, text, size);
		while (i < count && strlen(cuts[i]) + 1 > size)
			i++;
		if (i < count)
			assert_string_equal(text, cuts[i]);
		else if (size > 0) /* the name, cut */
			assert_true(strncmp(text, name, size - 1) == 0 &&
				    (strlen(text) == size - 1 || strlen(text) == strlen(name)));
	}
	formula_free(formula);
}

static void
whole_fields_are_left_out(void **state)
{
	static const char *const fields[] = {"retried: tcp_dport = 443, cs_cid = 42, cs_pid = 123",
					     "retried: tcp_dport = 443, cs_cid = 42, ...",
					     "retried: tcp_dport = 443, ...", "retried: ..."};
	static const char *const threshold[] = {"retried: tcp_dport = 443, cs_cid = 42, the 2nd in 1s",
						"retried: tcp_dport = 443, ..., the 2nd in 1s",
						"retried: ..., the 2nd in 1s"};

	(void)state;
	expect_cut("retried = tcp-retransmit where tcp_dport == 443 || cs_cid == 1 || cs_pid == 1", fields,
		   sizeof fields / sizeof fields[0]);
	expect_cut("retried = tcp-retransmit where tcp_dport == 443, 2 times in 1s by cs_cid", threshold,
		   sizeof threshold / sizeof threshold[0]);
}

#define with_sample(test) cmocka_unit_test_setup(test, set_up)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_sample(values_are_as_printed),
		with_sample(values_without_a_word_are_numbers),
		with_sample(text_is_escaped_and_cut),
		with_sample(a_long_text_is_cut),
		with_sample(every_field_has_a_value_of_printable_text),
		with_sample(fields_are_in_order_and_once),
		with_sample(only_what_the_definition_reads_is_built),
		with_sample(a_probe_is_described_by_its_name),
		with_sample(a_threshold_is_described_with_its_fields),
		with_sample(whole_fields_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
