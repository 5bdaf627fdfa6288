/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: values, and the messages for rejected options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "config/options.h"

#define MAX_WORDS 24

static char logged[1024];
static struct config config;

/* Replaces base/log.c: keeps the messages. */
void
log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	vsnprintf(logged, sizeof logged, format, arguments);
	va_end(arguments);
}

/* Parses the words of one line, which blanks separate. */
static enum options_result
parse(const char *line)
{
	static char words[1024];
	char *argv[MAX_WORDS + 1] = {NULL}, *rest = words;
	int argc = 0;

	snprintf(words, sizeof words, "netobsd %s", line);
	while (argc < MAX_WORDS && (argv[argc] = strsep(&rest, " ")) != NULL)
		argc++;
	config_free(&config);
	logged[0] = '\0';
	return options_parse(argc, argv, &config);
}

static void
takes(const char *line)
{
	enum options_result result = parse(line);

	if (result != OPTIONS_RUN)
		fail_msg("\"%s\" was refused: %s", line, logged);
}

/* Rejects `line` with a message that contains `words`. */
static void
refuses(const char *line, const char *words)
{
	if (parse(line) != OPTIONS_INVALID)
		fail_msg("\"%s\" was not refused", line);
	if (strstr(logged, words) == NULL)
		fail_msg("\"%s\": \"%s\" does not say \"%s\"", line, logged, words);
}

static void
test_defaults(void **state)
{
	struct flow_limits limits = flow_limits_default();

	(void)state;
	takes("-r file");
	assert_string_equal(config.capture_paths[0], "file");
	assert_null(config.capture_paths[1]);
	assert_null(config.interface_names[0]);
	assert_null(config.filter);
	assert_int_equal(config.view, VIEW_AUTO);
	assert_int_equal(config.print, PRINT_OFF);
	assert_int_equal(config.snaplen, 262144);
	assert_int_equal(config.kernel_buffer, 0);
	assert_true(config.observe_inner);
	assert_false(config.promiscuous || config.immediate || config.summary || config.strict || config.wait_tracer);
	assert_true(config.replay_speed <= 0);
	assert_int_equal(config.flow_limits.flows, limits.flows);
	assert_int_equal(config.flow_limits.tcp_connect_ns, limits.tcp_connect_ns);
	assert_int_equal(config.flow_limits.tcp_time_wait_ns, limits.tcp_time_wait_ns);
	assert_int_equal(config.flow_limits.tcp_idle_ns, limits.tcp_idle_ns);
	assert_int_equal(config.flow_limits.tcp_closing_ns, limits.tcp_closing_ns);
	assert_int_equal(config.flow_limits.udp_idle_ns, limits.udp_idle_ns);
}

static void
test_inputs(void **state)
{
	(void)state;
	takes("-i eth0 --interface=lo -s 96 -B 4096 --promiscuous --immediate --on-demand");
	assert_string_equal(config.interface_names[0], "eth0");
	assert_string_equal(config.interface_names[1], "lo");
	assert_null(config.interface_names[2]);
	assert_int_equal(config.snaplen, 96);
	assert_int_equal(config.kernel_buffer, 4096 * 1024);
	assert_true(config.promiscuous && config.immediate && config.on_demand);
	takes("-i any -s 0");
	assert_int_equal(config.snaplen, 262144);
	takes("-r a --read b -r - --pace=2.5 --wait-tracer=10");
	assert_string_equal(config.capture_paths[0], "a");
	assert_string_equal(config.capture_paths[1], "b");
	assert_string_equal(config.capture_paths[2], "-");
	assert_true(config.replay_speed > 2.4 && config.replay_speed < 2.6);
	assert_true(config.wait_tracer && config.wait_timeout > 9.9 && config.wait_timeout < 10.1);
	takes("-r a --pace --wait-tracer");
	assert_true(config.replay_speed > 0.9 && config.replay_speed < 1.1);
	assert_true(config.wait_tracer && config.wait_timeout <= 0);
	refuses("", "-i IFACE");
	refuses("-i eth0 -r file", "not both");
	refuses("-r - -r -", "only once");
	refuses("-i eth0 --pace", "--pace is for files");
	refuses("-r file --immediate", "--immediate is for interfaces");
	refuses("-r file --on-demand", "--on-demand is for interfaces");
	refuses("-r file -s 96", "--snapshot-length is for interfaces");
	refuses("-r file -B 96", "--buffer-size is for interfaces");
	refuses("-r ", "empty");
}

static void
test_filter(void **state)
{
	(void)state;
	takes("-r file tcp port 80");
	assert_string_equal(config.filter, "tcp port 80");
	takes("tcp -r file or --summary udp");
	assert_string_equal(config.filter, "tcp or udp");
	assert_true(config.summary);
	takes("-r file -- udp");
	assert_string_equal(config.filter, "udp");
}

static void
test_view(void **state)
{
	static const uint8_t net10[16] = {10}, host6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};

	(void)state;
	takes("-r file --view host --local 10.0.0.0/8 --local 2001:db8::1 --local 0.0.0.0/0");
	assert_int_equal(config.view, VIEW_HOST);
	assert_int_equal(config.local_prefix_count, 3);
	assert_int_equal(config.local_prefixes[0].version, 4);
	assert_int_equal(config.local_prefixes[0].bits, 8);
	assert_memory_equal(config.local_prefixes[0].addr, net10, 16);
	assert_int_equal(config.local_prefixes[1].version, 6);
	assert_int_equal(config.local_prefixes[1].bits, 128);
	assert_memory_equal(config.local_prefixes[1].addr, host6, 16);
	assert_int_equal(config.local_prefixes[2].bits, 0);
	takes("-i lo --view=both --no-inner");
	assert_int_equal(config.view, VIEW_BOTH);
	assert_false(config.observe_inner);
	takes("-i lo --view=monitor");
	assert_int_equal(config.view, VIEW_MONITOR);
	refuses("-r file --view all", "host, both or monitor");
	refuses("-r file --local 10.0.0.0/33", "--local 10.0.0.0/33");
	refuses("-r file --local 10.0.0/8", "prefix");
	refuses("-r file --local 10.0.0.0/", "prefix");
	refuses("-r file --local 10.0.0.0/-1", "prefix");
	refuses("-r file --local ::1/129", "prefix");
	refuses("-r file --local ::1/x", "prefix");
	refuses("-r file --local 1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb/8", "prefix");
	refuses("-r file --local example.org", "prefix");
}

static void
test_print(void **state)
{
	(void)state;
	takes("-r file --print");
	assert_int_equal(config.print, PRINT_TEXT);
	assert_null(config.print_probes);
	takes("-r file --format json --print=tcp-*,udp-send");
	assert_int_equal(config.print, PRINT_JSON);
	assert_string_equal(config.print_probes, "tcp-*,udp-send");
	takes("--list-probes");
	assert_true(config.list_probes);
	assert_int_equal(config.list_format, PRINT_TEXT);
	takes("--list-probes --format=json");
	assert_int_equal(config.list_format, PRINT_JSON);
	assert_int_equal(config.print, PRINT_OFF);
	refuses("-r file --format json", "needs --print, --records or --list-probes");
	takes("-r file --print=tcp-*,udp-send --print-fields probe,pkt_ts,tcp_sport,udp_sport");
	assert_string_equal(config.print_fields, "probe,pkt_ts,tcp_sport,udp_sport");
	refuses("-r file --print-fields pkt_ts", "--print-fields needs --print");
	refuses("-r file --print=udp-send --print-fields tcp_sport", "the probes have no field \"tcp_sport\"");
	refuses("-r file --print=udp-send --print-fields udp_sprt", "did you mean udp_sport");
	refuses("-r file --print --print-fields pkt_ts,", "an empty word");
	takes("-r file --formula f=tcp-send --print=f --print-fields tcp_sport");
	refuses("-r file --print --format xml", "text or json");
	refuses("-r file --print=", "probe");
	refuses("-r file --formula slow-one=tcp-send --print=slow-oen", "(did you mean slow-one?)");
	refuses("-r file --print=TCP-SEND", "(did you mean tcp-send?)");
}

static void
test_records(void **state)
{
	(void)state;
	takes("-r f --records");
	assert_true(config.records);
	assert_null(config.records_path);
	assert_int_equal(config.records_format, PRINT_OFF);
	takes("-r f --records=- --format json");
	assert_null(config.records_path);
	assert_int_equal(config.records_format, PRINT_JSON);
	takes("-i lo --records=x --records-where client_port==1||server_port==2 --print");
	assert_string_equal(config.records_path, "x");
	takes("-r f --records --records-sort -start --records-limit 7 --records-fields start,cr_end");
	assert_int_equal(config.records_limit, 7);
	refuses("-r f --records=", "empty");
	refuses("-r f --records --print", "both write to standard output");
	refuses("-r f --records-where start==1", "--records-where needs --records");
	refuses("-r f --records-fields start", "--records-fields needs --records");
	refuses("-r f --records-sort start", "--records-sort needs --records");
	refuses("-r f --records --records-where prot==1", "--records-where prot==1: column 1: ");
}

static void
test_limits(void **state)
{
	(void)state;
	takes(
	    "-r file --max-flows 1000 --time-wait 30 --udp-idle 0.5 --connect-timeout 1 --tcp-idle 2 "
	      "--tcp-closing-idle 3");
	assert_int_equal(config.flow_limits.flows, 1000);
	assert_int_equal(config.flow_limits.tcp_time_wait_ns, 30 * NANOSECONDS);
	assert_int_equal(config.flow_limits.udp_idle_ns, NANOSECONDS / 2);
	assert_int_equal(config.flow_limits.tcp_connect_ns, NANOSECONDS);
	assert_int_equal(config.flow_limits.tcp_idle_ns, 2 * NANOSECONDS);
	assert_int_equal(config.flow_limits.tcp_closing_ns, 3 * NANOSECONDS);
	refuses("-r file --max-flows 0", "whole number");
	refuses("-r file --max-flows 99999999999", "whole number");
	refuses("-r file --max-flows 1k", "whole number");
	refuses("-r file --max-flows -5", "whole number");
	refuses("-r file --max-flows 99999999999999999999", "whole number");
	refuses("-r file --time-wait 0", "expected a time from 1ms to 365d: seconds, or with a unit as in");
	refuses("-r file --time-wait nan", "a time from");
	refuses("-r file --time-wait 1x", "a time from");
	refuses("-r file --time-wait 1K", "a time from");
	refuses("-r file --pace=-1", "number");
	refuses("-r file --pace=", "number");
	refuses("-i lo -s 262145", "a size from 0 to 256K");
	refuses("-i lo -B 0", "a size from 1K to 2097151K: KiB, or");
}

static void
test_sizes(void **state)
{
	(void)state;
	takes("-r file");
	assert_int_equal(config.flight_memory, 0);
	takes("-r file --flight-memory 64M --flight-snap 128 --flight-bytes=512k");
	assert_int_equal(config.flight_memory, 64 << 20);
	assert_int_equal(config.flight_snap, 128);
	assert_int_equal(config.flight_bytes, 512 << 10);
	takes("-r file --flight-memory=1.5G --flight-bytes 1000");
	assert_int_equal(config.flight_memory, UINT64_C(1536) << 20);
	assert_int_equal(config.flight_bytes, 1000);
	takes("-r file --flight-memory 0");
	takes("-i lo --closed-connections 10000");
	assert_int_equal(config.closed_connections, 10000);
	takes("-i lo --closed-connections=0");
	refuses("-i lo --closed-connections 10000001", "from 0 to 10000000");
	refuses("-r file --closed-connections 10", "--closed-connections");
	assert_int_equal(config.flight_memory, 0);
	refuses("-r file --flight-memory 1023k", "a size from 1M to 64G");
	refuses("-r file --flight-memory 65G", "a size from 1M to 64G");
	refuses("-r file --flight-memory 1", "--flight-memory 1: expected 0 or a size from 1M to 64G");
	refuses("-r file --flight-memory 18446744073709551617", "a size from 1M to 64G");
	refuses("-r file --flight-memory 99999999999999999999999999999999999999G", "a size from 1M to 64G");
	refuses("-r file --flight-bytes 18446744073709551617", "expected 0 or a size from 1 to 1024T");
	refuses("-r file --flight-memory -1", "a size from");
	refuses("-r file --flight-memory 1MM", "a size from");
	refuses("-r file --flight-memory 1e9", "a size from");
	refuses("-r file --flight-memory nan", "a size from");
	refuses("-r file --flight-memory M", "a size from");
	refuses("-r file --flight-memory=", "a size from");
	refuses("-r file --flight-bytes=-0.5", "a size from");
}

static void
test_times(void **state)
{
	(void)state;
	takes("-r file");
	assert_int_equal(config.active_records_ns, 0);
	takes("-r file --active-records=5m");
	assert_int_equal(config.active_records_ns, 300 * NANOSECONDS);
	takes("-r file --active-records");
	assert_int_equal(config.active_records_ns, 300 * NANOSECONDS);
	takes("-r file --active-records=2");
	assert_int_equal(config.active_records_ns, 120 * NANOSECONDS);
	takes("-r file --active-records=90s");
	assert_int_equal(config.active_records_ns, 90 * NANOSECONDS);
	takes("-r file --active-records=1.5s");
	assert_int_equal(config.active_records_ns, 3 * NANOSECONDS / 2);
	takes("-r file --active-records=2min");
	assert_int_equal(config.active_records_ns, 120 * NANOSECONDS);
	takes("-r file --active-records=8760h");
	assert_int_equal(config.active_records_ns, 31536000 * NANOSECONDS);
	takes("-r file --active-records=0");
	assert_int_equal(config.active_records_ns, 0);
	refuses("-r file --active-records=0.5s", "from 1s to 365d");
	refuses("-r file --active-records=8761h", "expected 0 or a time");
	takes("-r file --active-records=5d");
	assert_int_equal(config.active_records_ns, 432000 * NANOSECONDS);
	refuses("-r file --active-records=5ms", "expected 0 or a time");
	refuses("-r file --active-records=-5m", "expected 0 or a time");
	refuses("-r file --active-records=nan", "expected 0 or a time");
	refuses("-r file --active-records=m", "expected 0 or a time");
	refuses("-r file --active-records=", "expected 0 or a time");
}

/* Each option that takes a time or a size, with a unit and without one. */
static void
test_units(void **state)
{
	(void)state;
	takes("-r file --from 10 --lead-in 5m --app-timeout 500ms --wait-tracer=1.5min");
	assert_int_equal(config.lead_in, 300 * NANOSECONDS);
	assert_int_equal(config.app_timeout_ns, NANOSECONDS / 2);
	assert_true(config.wait_timeout > 89.9 && config.wait_timeout < 90.1);
	takes("-r file --connect-timeout 2min --time-wait 1m --tcp-idle 5m --tcp-closing-idle 1d --udp-idle 2h");
	assert_int_equal(config.flow_limits.tcp_connect_ns, 120 * NANOSECONDS);
	assert_int_equal(config.flow_limits.tcp_time_wait_ns, 60 * NANOSECONDS);
	assert_int_equal(config.flow_limits.tcp_idle_ns, 300 * NANOSECONDS);
	assert_int_equal(config.flow_limits.tcp_closing_ns, 86400 * NANOSECONDS);
	assert_int_equal(config.flow_limits.udp_idle_ns, 7200 * NANOSECONDS);
	takes("-r file --tcp-idle 300 --flight-memory 64MiB --flight-snap 1k --flight-bytes 10kB");
	assert_int_equal(config.flow_limits.tcp_idle_ns, 300 * NANOSECONDS);
	assert_int_equal(config.flight_memory, 64 << 20);
	assert_int_equal(config.flight_snap, 1024);
	assert_int_equal(config.flight_bytes, 10000);
	takes("-i lo -s 64KiB -B 64M");
	assert_int_equal(config.snaplen, 65536);
	assert_int_equal(config.kernel_buffer, 64 << 20);
	takes("-i lo -s 1500 -B 64");
	assert_int_equal(config.snaplen, 1500);
	assert_int_equal(config.kernel_buffer, 65536);
}

static void
test_refused_words(void **state)
{
	(void)state;
	refuses("-x", "unknown option -x");
	refuses("--frobnicate", "--frobnicate");
	refuses("-r", "--read needs a value: FILE");
	refuses("--view", "--view needs a value: VIEW");
	refuses("-r file --summary=yes", "--summary takes no value");
	refuses("-r file --pr", "--pr"); /* --print or --promiscuous */
}

/* A letter or a name shared by two rows would hide one of them; every row needs a help text. */
static void
test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		assert_non_null(row->help);
		assert_non_null(row->kind);
		assert_true(strlen(row->help) > 10);
		assert_true(row->help[strlen(row->help) - 1] != '.');
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(row->name, options_table[j].name);
			assert_true(row->short_name == 0 || row->short_name != options_table[j].short_name);
		}
	}
}

/* --help names every option, in lines that fit a terminal of 120 columns. */
static void
test_help(void **state)
{
	char *text = NULL, *rest, *line;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_non_null(stream);
	options_print_help(stream);
	fclose(stream);
	for (size_t i = 0; i < options_table_rows; i++) {
		char name[64];

		snprintf(name, sizeof name, " --%s", options_table[i].name);
		assert_true((strstr(text, name) != NULL) == (options_table[i].source != OPTION_CONFIG_FILE));
	}
	assert_non_null(strstr(text, "(1000000)"));
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		assert_true(strlen(line) <= 120);
	free(text);
}

/* --from and --to: `text` is `seconds` and `ns` after 1970. */
static void
means_time(const char *text, uint64_t seconds, uint64_t ns)
{
	char line[128];

	snprintf(line, sizeof line, "-r f --from %s", text);
	takes(line);
	if (config.from != seconds * 1000000000u + ns)
		fail_msg("\"%s\" is %llu ns", text, (unsigned long long)config.from);
}

static void
test_points_in_time(void **state)
{
	(void)state;
	means_time("0", 0, 0);
	means_time("1795376400", 1795376400, 0);
	means_time("1795376400.5", 1795376400, 500000000);
	means_time("1795376400.123456789", 1795376400, 123456789);
	means_time("1795376400.1234567899", 1795376400, 123456789);
	means_time("18446744072.999999999", 18446744072, 999999999);
	means_time("2026-11-22T19:40:00Z", 1795376400, 0);
	means_time("2026-11-22T19:40:00", 1795376400, 0);
	means_time("2026-11-22T19:40Z", 1795376400, 0);
	means_time("2026-11-22T19:40:00.000000001Z", 1795376400, 1);
	means_time("2026-11-22T20:40:00.25+01:00", 1795376400, 250000000);
	means_time("2026-11-22T14:10:00-0530", 1795376400, 0);
	means_time("2026-11-22T20:40:00+01", 1795376400, 0);
	means_time("1970-01-01", 0, 0);
	means_time("2024-02-29", 1709164800, 0);
	takes("-r f --to 1");
	assert_int_equal(config.to, 1000000000);
	assert_int_equal(config.from, 0);
	takes("-r f");
	assert_int_equal(config.to, 0);
}

static void
test_times_that_are_none(void **state)
{
	static const char *const texts[] = {
	    "now", "1.", ".5", "-1", "+1", "1e9", "0x10", "18446744073", "99999999999999999999", "1795376400Z",
	    "2026-11-22T", "2026-11-22T19", "2026-11-22T19:40:00z", "2026-11-22T19:40:00.Z", "2026-11-22T24:00:00Z",
	    "2026-11-22T19:60:00Z", "2026-11-22T19:40:60Z", "2026-13-22", "2026-00-22", "2026-11-31", "2025-02-29",
	    "1969-12-31", "1970-01-01T00:00:00+01:00", "26-11-22", "2026-11-22T19:40:00+1", "2026-11-22T19:40:00+01:",
	    "2026-11-22T19:40:00+24:00", "2026-11-22T19:40:00Zx", "2026-11-22T19:40:00+01:00x"};
	char line[128];

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		snprintf(line, sizeof line, "-r f --from %s", texts[i]);
		refuses(line, "expected a time such as 2026-11-22T19:40:00.5Z");
	}
}

static void
test_limits_of_the_flight_memory(void **state)
{
	(void)state;
	refuses("-i lo --flight-snap 100", "--flight-snap needs --flight-memory");
	refuses("-i lo --flight-bytes 1M", "--flight-bytes needs --flight-memory");
	takes("-i lo --flight-memory 1M --flight-snap 100 --flight-bytes 1M");
	takes("-i lo --flight-snap 0 --flight-bytes 0");
}

static void
test_window(void **state)
{
	(void)state;
	takes("-r f --from 10 --to 10.000000001 --lead-in 0");
	assert_int_equal(config.lead_in, 0);
	takes("-r f --from 10");
	assert_true(config.lead_in == UINT64_C(600000000000));
	refuses("-r f --from 10 --to 10", "--to must be later than --from");
	refuses("-r f --from 10 --to 9", "--to must be later than --from");
	refuses("-r f --to 0", "--to must be later than --from");
	refuses("-r f --lead-in 5", "--lead-in needs --from");
	refuses("-r f --from 5 --lead-in -1", "expected a time from 0s to 365d: seconds, or");
	refuses("-i lo --from 5", "--from is for files");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_points_in_time),
	    cmocka_unit_test(test_times_that_are_none),
	    cmocka_unit_test(test_limits_of_the_flight_memory),
	    cmocka_unit_test(test_window),
	    cmocka_unit_test(test_defaults), cmocka_unit_test(test_inputs),	   cmocka_unit_test(test_filter),
	    cmocka_unit_test(test_view),     cmocka_unit_test(test_print),	   cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_units),
	    cmocka_unit_test(test_times),    cmocka_unit_test(test_records),
	    cmocka_unit_test(test_table),    cmocka_unit_test(test_refused_words), cmocka_unit_test(test_help),
	};
	int failed = cmocka_run_group_tests_name("options", tests, NULL, NULL);

	config_free(&config);
	return failed;
}
