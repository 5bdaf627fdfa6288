/* SPDX-License-Identifier: BSD-2-Clause */
/* The language of formulas: what a definition is true for. */
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

static struct firing_sample sample;

static struct formula *
compile(const char *text)
{
	struct formula_error error;
	struct formula *formula = formula_compile(text, &error);

	if (formula == NULL)
		fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.message);
	return formula;
}

/* Whether the expression is true for the sample as a firing of the probe. */
static bool
is_true_for(enum probe_id probe, const char *expression)
{
	char text[FORMULA_TEXT_MAX];
	struct formula *formula;
	bool result;

	snprintf(text, sizeof text, "x = %s where %s", manifest_probes[probe].name, expression);
	formula = compile(text);
	result = formula_is_true(formula, firing_sample_fire(&sample, probe));
	formula_free(formula);
	return result;
}

static void
expect(const char *expression, bool result)
{
	if (is_true_for(PROBE_TCP_RETRANSMIT, expression) != result)
		fail_msg("%s is not %s", expression, result ? "true" : "false");
}

struct expectation {
	const char *expression;
	bool result;
};

static void
expect_all(const struct expectation *expectations, size_t count)
{
	firing_sample_init(&sample);
	for (size_t i = 0; i < count; i++)
		expect(expectations[i].expression, expectations[i].result);
}

#define EXPECT_ALL(...)                                                                     \
	do {                                                                                \
		static const struct expectation expectations[] = {__VA_ARGS__};             \
		expect_all(expectations, sizeof expectations / sizeof expectations[0]);     \
	} while (0)

/* tcp-retransmit: pkt, cs, ip, tcps, tcp, tcpr */
static void
numbers_are_compared(void **state)
{
	(void)state;
	EXPECT_ALL({"tcp_dport == 443", true}, {"tcp_dport != 443", false}, {"tcp_dport == 80", false},
		   {"443 == tcp_dport", true}, {"tcp_dport < 443", false}, {"tcp_dport <= 443", true},
		   {"tcp_dport > 442", true}, {"tcp_dport >= 444", false}, {"442 < tcp_dport", true},
		   {"443 < tcp_dport", false}, {"443 <= tcp_dport", true}, {"443 > tcp_dport", false},
		   {"443 >= tcp_dport", true}, {"tcp_dport == 0x1bb", true}, {"tcp_dport < tcp_sport", true},
		   {"tcp_dport > tcp_sport", false}, {"tcp_dport <= tcp_sport", true},
		   {"tcp_dport >= tcp_sport", false},
		   {"tcp_sport == tcps_lport", true}, {"tcp_sport != tcps_lport", false}, {"tcps_active == -1", true},
		   {"tcps_active < 0", true}, {"tcps_active >= 0", false}, {"tcps_active <= 5", true},
		   {"tcps_active > 5", false}, {"tcps_active < 2147483647", true}, {"cs_zoneid == -1", true},
		   {"cs_zoneid < 0", true}, {"tcp_seq > 0", true}, {"tcp_seq == 4000000000", true},
		   {"cs_addr == 0xffff888000000000", true}, {"cs_addr > 0x7fffffffffffffff", true},
		   {"cs_addr < 0xffff888000000001", true}, {"cs_pid == 123", true}, {"tcp_dport", true},
		   {"tcpr_count - 2", false});
}

static void
operators_have_c_precedence(void **state)
{
	(void)state;
	EXPECT_ALL({"tcp_dport == 400 + 43", true}, {"tcp_dport == 2 + 3 * 147", true},
		   {"tcp_dport == (2 + 1) * 147 + 2", true}, {"tcp_dport - 3 - 40 == 400", true},
		   {"tcp_dport / 2 == 221", true}, {"tcp_dport % 10 == 3", true}, {"tcp_dport << 1 == 886", true},
		   {"tcp_dport >> 1 == 221", true}, {"(tcp_dport & 0xff) == 0xbb", true},
		   {"(tcp_dport | 0x400) == 0x5bb", true}, {"(tcp_dport ^ 1) == 442", true},
		   {"-tcp_dport == -443", true},
		   {"~tcp_dport == -444", true}, {"+tcp_dport == 443", true}, {"!(tcp_dport == 443)", false},
		   {"!tcp_dport", false}, {"tcp_dport == 1 || tcp_dport == 443 && tcp_sport == 40000", true},
		   {"tcp_dport == 443 || tcp_dport == 2 && tcp_sport == 1", true},
		   {"(tcp_dport == 443 || tcp_dport == 2) && tcp_sport == 1", false},
		   {"tcp_dport == 443 ? tcp_sport == 40000 : tcp_sport == 1", true},
		   {"(tcp_dport == 1 ? tcp_sport : tcp_window) == 501", true},
		   {"(tcp_dport == 443) + (tcp_sport == 40000) == 2", true},
		   {"(tcp_dport == 443) + (tcp_sport == 4) == 1", true}, {"tcp_seq + 1 > 0xee6b2800", true},
		   {"tcp_sport * tcp_sport * tcp_sport * tcp_sport == 2560000000000000000", true},
		   {"tcps_active / 2 == 0 && tcps_active >> 5 == -1", true},
		   {"tcps_snd_bytes - tcps_rcv_bytes > 0", true}, {"cs_addr >> 63 == 1", true},
		   {"cs_pid - 200 < tcps_snd_bytes", true}, {"tcps_snd_bytes > cs_pid - 200", true},
		   {"cs_pid - 200 == cs_addr", false}, {"cs_pid - 200 >= cs_addr", false},
		   {"(tcp_dport & 1 << 1) == 2", true},
		   {"cs_pid - 124 == cs_addr - 0xffff888000000001", false}, /* -1 and 2^64 - 1 */
		   {"cs_pid - 124 != cs_addr - 0xffff888000000001", true},
		   {"tcps_active >> (cs_addr - 0xffff888000000000) == -1", true},
		   {"(tcp_dport & 0xffff) == 0x201bb", false},
		   {"(tcps_active & 0xffffffff) == 0xffffffff", true});
}

static void
sets_and_ranges(void **state)
{
	(void)state;
	EXPECT_ALL({"tcp_dport in {443}", true}, {"tcp_dport in {80, 443}", true}, {"tcp_dport in {80, 8080}", false},
		   {"tcp_dport in {400..442, 444..500}", false}, {"tcp_dport in {400..443}", true},
		   {"tcp_dport in {1, 3, 5, 7, 9, 11, 443}", true},
		   {"tcp_dport in {1, 3, 5, 7, 9, 11, 13, 444..450}", false},
		   {"tcp_dport + 1 in {444}", true}, {"tcp_dport + 1 in {443, 1..9}", false},
		   {"tcps_active in {-3..-1}", true},
		   {"tcps_active in {0..1}", false}, {"tcps_active in {-9, -7, -5, -3, -1}", true},
		   {"tcps_active in {1, 3, 5, 7, 9, 11}", false},
		   {"cs_addr in {1, 3, 5, 7, 9, 0xffff888000000000}", true},
		   {"cs_addr in {1..0xffffffffffffffff}", true},
		   {"cs_comm in {\"apache2\", \"nginx\"}", true}, {"cs_comm in {\"apache2\", \"ngin\"}", false},
		   {"!(tcp_dport in {80, 443})", false}, {"(tcp_dport & 3) in {3}", true},
		   {"tcps_state in {established, close-wait}", true}, {"tcps_state in {syn-sent, close-wait}", false});
}

static void
words_are_numbers_of_the_field_beside_them(void **state)
{
	(void)state;
	EXPECT_ALL({"tcps_state == established", true}, {"tcps_state == state-established", true},
		   {"tcps_state == ESTABLISHED", true}, {"tcps_state == NETOBS_TCP_ESTABLISHED", true},
		   {"tcps_state == TCP_ESTABLISHED", true}, {"tcps_state == TCP_STATE_ESTABLISHED", true},
		   {"args[3]->tcps_state == TCPS_ESTABLISHED", true}, {"tcps_state == TCPS_FIN_WAIT_1", false},
		   {"tcps_statestr == \"state-established\"", true}, {"tcps_statestr == \"<unknown>\"", false},
		   {"tcps_state != fin-wait-1", true},
		   {"tcps_state == fin_wait_2", false}, {"established == tcps_state", true}, {"tcp_flags & ACK", true},
		   {"tcp_flags & SYN", false}, {"(tcp_flags & (SYN|ACK)) == ACK", true},
		   {"tcp_flags == (PSH|ACK)", true}, {"(tcp_flags & ~(PSH|ACK)) == 0", true},
		   {"tcp_flags & (SYN|0x10)", true}, {"~tcp_flags & SYN", true},
		   {"(tcp_dport == 443 ? tcp_flags : 0) & ACK", true},
		   {"!(tcp_flags & RST)", true}, {"tcpr_kind == timeout", true}, {"tcpr_kind in {syn, fast}", false});
}

static void
units_are_converted(void **state)
{
	(void)state;
	EXPECT_ALL({"tcps_srtt_us == 150ms", true}, {"tcps_srtt_us > 0.1s", true}, {"tcps_srtt_us > 200ms", false},
		   {"tcps_rtt == 150ms", true}, {"tcps_rto >= 300000us", true}, {"pkt_len > 1.5kB", true},
		   {"pkt_len >= 1.5KiB", false}, {"tcps_snd_bytes == 2MB", true}, {"tcps_snd_bytes > 2MiB", false},
		   {"pkt_ts - tcps_start == 4s", true}, {"tcps_srtt_us * 2 > 250ms", true},
		   {"2 * tcps_srtt_us == 300ms", true}, {"tcps_srtt_us > 2 * 50ms", true},
		   {"tcps_srtt_us - 200ms == -50ms", true}, {"tcps_srtt_us + 10ms == 160ms", true},
		   {"tcpr_elapsed_us in {1s..2s}", true}, {"tcpr_elapsed_us > 2 * 1s", false},
		   {"tcps_srtt_us < 1min", true},
		   {"tcps_srtt_us > 1h", false}, {"500us < tcps_srtt_us", true}, {"tcps_srtt_us == 150000", true},
		   {"(tcp_dport == 443 ? 100ms : tcps_srtt_us) == 100ms", true},
		   {"(tcp_dport == 443 ? tcps_srtt_us : 100ms) == 150ms", true},
		   {"(tcp_dport == 443 ? tcps_rtt : tcps_srtt_us) == 150", true},
		   {"tcps_rtt * 1000 == tcps_srtt_us", true}, {"tcps_srtt_us in {0..150ms}", true});
}

static void
texts_are_compared(void **state)
{
	(void)state;
	EXPECT_ALL({"cs_comm == \"nginx\"", true}, {"cs_comm == \"ngin\"", false}, {"cs_comm == \"nginx2\"", false},
		   {"cs_comm != \"nginx\"", false}, {"cs_comm != \"\"", true}, {"\"nginx\" == cs_comm", true},
		   {"cs_comm == \"ngin\\x78\"", true}, {"cs_comm ~ \"ng*\"", true}, {"cs_comm ~ \"*x\"", true},
		   {"cs_comm ~ \"n?inx\"", true}, {"cs_comm ~ \"[a-m]*\"", false}, {"cs_comm ~ \"[!a-m]*\"", true},
		   {"cs_comm ~ \"nginx\"", true}, {"cs_comm ~ \"ngin\"", false}, {"cs_comm ~ \"\\\\nginx\"", true},
		   {"ip_saddr == tcps_laddr", true}, {"ip_saddr == tcps_raddr", false},
		   {"ip_saddr != tcps_raddr", true},
		   {"tcps_statestr ~ \"state-*\"", true}, {"tcp_flagstr == \"PSH|ACK\"", true});
	snprintf(sample.tcps.tcps_laddr, sizeof sample.tcps.tcps_laddr, "192.0.2.70");
	expect("ip_saddr == tcps_laddr", false);
	expect("tcps_laddr != ip_saddr", true);
}

static void
set_destination(const char *address)
{
	snprintf(sample.ip.ip_daddr, sizeof sample.ip.ip_daddr, "%s", address);
}

static void
addresses_are_in_prefixes(void **state)
{
	(void)state;
	EXPECT_ALL({"ip_saddr in 192.0.2.0/24", true}, {"ip_saddr in 192.0.3.0/24", false},
		   {"ip_saddr in 10.0.0.0/8", false},
		   {"ip_saddr in 192.0.0.0/12", true}, {"ip_saddr in 192.0.2.0/29", true},
		   {"ip_saddr in 192.0.2.8/29", false},
		   {"ip_saddr == 192.0.2.7", true}, {"ip_saddr != 192.0.2.7", false}, {"192.0.2.8 == ip_saddr", false},
		   {"ip_saddr in 0.0.0.0/0", true}, {"ip_saddr in ::/0", false}, {"ip_saddr in 2001:db8::/32", false},
		   {"ip_saddr in {10.0.0.0/8, 192.0.2.7}", true}, {"ip_saddr in {10.0.0.0/8, 2001:db8::1}", false},
		   {"ip_saddr == \"192.0.2.7\"", true});
	set_destination("2001:db8::1:0:0:7");
	expect("ip_daddr in 2001:db8::/32", true);
	expect("ip_daddr in 2001:db8::/33", true);
	expect("ip_daddr in 2001:db8:0:0:1::/80", true);
	expect("ip_daddr in 2001:db8:0:0:2::/80", false);
	expect("ip_daddr == 2001:db8::1:0:0:7", true);
	expect("ip_daddr == 2001:db8::1:0:0:8", false);
	expect("ip_daddr in fe80::/10", false);
	expect("ip_daddr in ::/0", true);
	expect("ip_daddr in 0.0.0.0/0", false);
	set_destination("<unknown>");
	expect("ip_daddr in ::/0", false);
	expect("ip_daddr in 0.0.0.0/0", false);
	assert_true(is_true_for(PROBE_IP_SEND, "ipv4_src in 192.0.2.0/24 && ipv4_src == 192.0.2.7"));
	assert_false(is_true_for(PROBE_IP_SEND, "ipv4_src in 192.0.2.0/30"));
	assert_true(is_true_for(PROBE_IP_SEND, "ipv4_src in 0.0.0.0/0 && ipv4_src == 0xc0000207"));
}

static void
absent_arguments_make_the_innermost_comparison_false(void **state)
{
	static const struct expectation absent[] = {
		{"cs_pid == 123", false}, {"cs_pid != 123", false}, {"!(cs_pid == 123)", true}, {"cs_pid", false},
		{"!cs_pid", true}, {"cs_pid + tcp_dport > 0", false}, {"cs_comm == \"nginx\"", false},
		{"cs_comm != \"nginx\"", false}, {"cs_comm != ip_saddr", false}, {"ip_saddr != cs_comm", false},
		{"cs_comm ~ \"*\"", false}, {"cs_pid in {0..1000}", false},
		{"cs_pid + 1 in {1..1000}", false}, {"cs_pid == 123 || tcp_dport == 443", true},
		{"args[1] == NULL", true},
		{"args[1] != NULL", false}, {"NULL == args[1]", true}, {"args[1] != 0", false},
		{"0 == args[1]", true}, {"0 != args[4]", true}, {"args[1]", false}, {"!args[1]", true},
		{"(cs_pid == 1 ? 1 : 2) == 2", true}, {"(cs_pid == 1) + 5 == 5", true}, {"args[4] != NULL", true},
		{"(tcp_dport == 443 ? cs_pid : 2) != 2", false}, {"tcps_laddr == ip_saddr", true},
	};

	(void)state;
	firing_sample_init(&sample);
	for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
		char text[200];
		struct formula *formula;
		struct firing *firing;

		snprintf(text, sizeof text, "x = tcp-retransmit where %s", absent[i].expression);
		formula = compile(text);
		firing = firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT);
		firing->args[1] = NULL;
		if (formula_is_true(formula, firing) != absent[i].result)
			fail_msg("%s", absent[i].expression);
		formula_free(formula);
	}
}

static void
undefined_results_are_absent(void **state)
{
	(void)state;
	EXPECT_ALL({"tcp_dport / (tcp_ack - 17) == 0", false}, {"tcp_dport / (tcp_ack - 17) != 0", false},
		   {"tcp_dport % (tcp_ack - 17) == 0", false}, {"1 << tcp_sport == 0", false},
		   {"1 << tcp_ack == 131072", true},
		   {"1 >> -tcp_ack == 0", false}, {"(tcps_active << 63) / tcps_active != 0", true},
		   {"(tcps_active << 63) % tcps_active == 0", true});
}

static void
fields_are_named_as_in_d(void **state)
{
	(void)state;
	EXPECT_ALL({"args[3]->tcps_srtt_us > 100ms", true},
		   {"args[4]->tcp_flags & ACK && args[1]->cs_pid == 123", true});
	assert_true(is_true_for(PROBE_TCP_STATE_CHANGE, "tcps_state == established"));
	assert_true(is_true_for(PROBE_TCP_STATE_CHANGE, "args[5]->tcps_state == syn-sent"));
	assert_true(is_true_for(PROBE_TCP_STATE_CHANGE, "args[3]->tcps_state != args[5]->tcps_state"));
	assert_true(is_true_for(PROBE_IP_SEND, "ipv4_hdr == NULL && ipv4_ttl == 64"));
	assert_false(is_true_for(PROBE_IP_SEND, "ipv4_hdr != 0"));
	assert_true(is_true_for(PROBE_IP_SEND, "0 == ipv4_hdr && NULL == ipv4_hdr"));
}

static void
several_probes_have_their_fields_at_different_places(void **state)
{
	struct formula *formula = compile("x = tcp-se*, tcp__retransmit, udp-send where cs_pid == 123 && ip_ver == 4");

	(void)state;
	firing_sample_init(&sample);
	assert_true(formula_has_probe(formula, PROBE_TCP_SEND));
	assert_true(formula_has_probe(formula, PROBE_UDP_SEND));
	assert_true(formula_has_probe(formula, PROBE_TCP_RETRANSMIT));
	assert_false(formula_has_probe(formula, PROBE_TCP_RECEIVE));
	assert_true(formula_is_true(formula, firing_sample_fire(&sample, PROBE_TCP_SEND)));
	assert_true(formula_is_true(formula, firing_sample_fire(&sample, PROBE_UDP_SEND)));
	sample.cs.cs_pid = 9;
	assert_false(formula_is_true(formula, firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT)));
	formula_free(formula);
	firing_sample_init(&sample);
	formula = compile("x = tcp-state-change, tcp-timeout-retransmit "
			  "where tcps_state == established && cs_pid == 123");
	assert_true(formula_is_true(formula, firing_sample_fire(&sample, PROBE_TCP_STATE_CHANGE)));
	assert_true(formula_is_true(formula, firing_sample_fire(&sample, PROBE_TCP_TIMEOUT_RETRANSMIT)));
	formula_free(formula);
}

static void
formulas_have_their_properties(void **state)
{
	static const struct {
		const char *text;
		bool counted, threshold;
	} rows[] = {
	    {"a = tcp-state-change", true, false},
	    {"a=tcp-send", false, false},
	    {"a = tcp-retransmit, 3 times in 1s by cs_cid", true, true},
	    {"a = tcp-send counted", true, false},
	    {"a = icmp-receive, arp-receive", true, false},
	    {"a = ip-*", false, false},
	    {"a = tcp-retransmit where tcp_dport == 80 uncounted", false, false},
	    {"a = tcp-send, tcp-receive where tcp_ack == 80, 50 times in 1h by ip_saddr, tcp_ack counted", true, true},
	    {"a = *-established, 2 times in 1min", true, true},
	    {"a = tcp-retransmit, tcp-send", false, false},
	    {"\ta\n=\ntcp-retransmit\nwhere\ntcp_dport\n==\n80\n", true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct formula *formula = compile(rows[i].text);

		assert_string_equal(formula_name(formula), "a");
		assert_string_equal(formula_text(formula), rows[i].text);
		assert_int_equal(formula_is_counted(formula), rows[i].counted);
		assert_int_equal(formula_has_threshold(formula), rows[i].threshold);
		formula_free(formula);
	}
}

/* A formula without an expression is true for every firing. */
static void
no_expression_is_true(void **state)
{
	struct formula *formula = compile("every = tcp-retransmit");

	(void)state;
	firing_sample_init(&sample);
	assert_true(formula_is_true(formula, firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT)));
	formula_free(formula);
}

/* Reads the formula that begins in `line`; lines that go on begin with spaces.  `line` is then the line after it. */
static void
check_example(FILE *page, char *line, int size)
{
	char text[FORMULA_TEXT_MAX] = "";
	size_t length = 0;

	do
		length += (size_t)snprintf(text + length, sizeof text - length, "%s", line);
	while (fgets(line, size, page) != NULL && line[0] == ' ');
	formula_free(compile(text));
}

/* The formulas of netobs(7). */
static void
examples_of_the_manual_are_formulas(void **state)
{
	char path[1000], line[500];
	const char *top = getenv("top_srcdir");
	unsigned count = 0;
	bool inside = false;
	FILE *page;

	(void)state;
	snprintf(path, sizeof path, "%s/man/netobs.7.in", top == NULL ? "." : top);
	page = fopen(path, "r");
	assert_non_null(page);
	while (fgets(line, sizeof line, page) != NULL) {
		if (strncmp(line, ".Sh ", 4) == 0)
			inside = strcmp(line, ".Sh FORMULAS\n") == 0;
		while (inside && line[0] >= 'a' && line[0] <= 'z' && strstr(line, " = ") != NULL) {
			check_example(page, line, sizeof line);
			count++;
		}
	}
	fclose(page);
	assert_int_equal(count, 13);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_compared),
		cmocka_unit_test(operators_have_c_precedence),
		cmocka_unit_test(sets_and_ranges),
		cmocka_unit_test(words_are_numbers_of_the_field_beside_them),
		cmocka_unit_test(units_are_converted),
		cmocka_unit_test(texts_are_compared),
		cmocka_unit_test(addresses_are_in_prefixes),
		cmocka_unit_test(absent_arguments_make_the_innermost_comparison_false),
		cmocka_unit_test(undefined_results_are_absent),
		cmocka_unit_test(fields_are_named_as_in_d),
		cmocka_unit_test(several_probes_have_their_fields_at_different_places),
		cmocka_unit_test(formulas_have_their_properties),
		cmocka_unit_test(no_expression_is_true),
		cmocka_unit_test(examples_of_the_manual_are_formulas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
