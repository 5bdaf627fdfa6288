/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs.conf(5): values, rejected text with its line number, and that printed settings can be read again. */
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
#include "daemon/reload.h"

#define ROWS_MAX 128

static char logged[4096];
static unsigned messages;
static struct config config;
static bool overridden[ROWS_MAX];

/* Replaces base/log.c: keeps the messages. */
void
log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	vsnprintf(logged, sizeof logged, format, arguments);
	va_end(arguments);
	messages++;
}

static bool
parse_into(struct config *into, const char *text)
{
	FILE *stream = *text != '\0' ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : fopen("/dev/null", "r");
	bool good;

	assert_non_null(stream);
	assert_true(options_table_rows <= ROWS_MAX);
	logged[0] = '\0';
	messages = 0;
	assert_true(config_set_defaults(into));
	good = config_file_parse(stream, "a.conf", into, overridden);
	fclose(stream);
	return good;
}

static void
takes(const char *text)
{
	config_free(&config);
	if (!parse_into(&config, text))
		fail_msg("\"%s\" was refused: %s", text, logged);
	assert_int_equal(messages, 0);
}

/* Rejects `text` with one message that begins with `where` and contains `words`. */
static void
refuses(const char *text, const char *where, const char *words)
{
	config_free(&config);
	if (parse_into(&config, text))
		fail_msg("\"%s\" was not refused", text);
	if (strncmp(logged, where, strlen(where)) != 0 || strstr(logged, words) == NULL)
		fail_msg("\"%s\": \"%s\" does not say \"%s ... %s\"", text, logged, where, words);
	assert_int_equal(messages, 1);
}

static void
test_settings(void **state)
{
	(void)state;
	takes("");
	takes("# nothing but a comment\n");
	takes("interface = {\"eth0\", lo}\ninterface += {veth1}\nview = host\nlocal = {10.0.0.0/8, \"2001:db8::/32\"}\n"
	      "filter = \"tcp port 80\"\npromiscuous = true\nimmediate = false\nno-inner = true\nno-seccomp = true\n"
	      "snapshot-length = 96\nbuffer-size = 2048\nmax-flows = 5000\ntime-wait = 1.5\nuser = nobody\n");
	assert_string_equal(config.interface_names[0], "eth0");
	assert_string_equal(config.interface_names[1], "lo");
	assert_string_equal(config.interface_names[2], "veth1");
	assert_null(config.interface_names[3]);
	assert_int_equal(config.view, VIEW_HOST);
	assert_int_equal(config.local_prefix_count, 2);
	assert_string_equal(config.filter, "tcp port 80");
	assert_true(config.promiscuous && !config.immediate && !config.observe_inner && !config.seccomp);
	assert_int_equal(config.snaplen, 96);
	assert_int_equal(config.kernel_buffer, 2048 * 1024);
	assert_int_equal(config.flow_limits.flows, 5000);
	assert_int_equal(config.flow_limits.tcp_time_wait_ns, 1500000000);
	assert_string_equal(config.run_as_user, "nobody");
	takes("interface = eth0\n");
	assert_string_equal(config.interface_names[0], "eth0");
	takes("interface = {}\n");
	assert_null(config.interface_names[0]);
}

/* A filter of `count` ports, in a setting, is refused before it is compiled, which would take seconds. */
static void
refuses_ports(const char *setting, unsigned count)
{
	const char *after = strstr(setting, "%s") + 2;
	char text[4096];
	size_t used = (size_t)snprintf(text, sizeof text, "%.*sport 1", (int)(after - setting) - 2, setting);

	for (unsigned i = 2; i <= count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, " or port %u", i);
	snprintf(text + used, sizeof text - used, "%s", after);
	refuses(text, "a.conf:1: ", "the filter is too big: about ");
}

static void
test_refusals(void **state)
{
	(void)state;
	refuses("colour = blue\n", "a.conf:1: ", "'colour'");
	refuses("\n\nmax-flows = 3\nview = host\n", "a.conf:3: ", "16 to 100000000");
	refuses("max-flows = many\n", "a.conf:1: ", "whole number");
	refuses("max-flows = 99999999999999999999\n", "a.conf:1: ", "whole number");
	refuses("max-flows = 1.5\n", "a.conf:1: ", "whole number");
	refuses("tcp-idle = nan\n", "a.conf:1: ", "a time from");
	refuses("promiscuous = perhaps\n", "a.conf:1: ", "true or false");
	refuses("promiscuous = yes\n", "a.conf:1: ", "true or false");
	refuses("no-inner = off\n", "a.conf:1: ", "true or false");
	refuses("strict = TRUE\n", "a.conf:1: ", "true or false");
	refuses("strict = 1\n", "a.conf:1: ", "true or false");
	refuses("promiscuous = \"\"\n", "a.conf:1: ", "true or false");
	refuses("view = sideways\n", "a.conf:1: ", "host, both or monitor");
	refuses("local = {10.0.0.0/8,\n  10.0.0.0/33}\n", "a.conf:2: ", "address prefix");
	refuses("filter = \"tcp poort 80\"\n", "a.conf:1: ", "syntax error");
	refuses("filter = \"\"\n", "a.conf:1: ", "empty");
	refuses_ports("filter = \"%s\"\n", 169);
	refuses_ports("formula = {'x = gld-receive where pcap(\"%s\")'}\n", 79);
	refuses("print = \"tcp-nothing\"\n", "a.conf:1: ", "no probe \"tcp-nothing\"");
	refuses("format = xml\n", "a.conf:1: ", "text or json");
	refuses("user = nobody-of-that-name\n", "a.conf:1: ", "no such user");
	refuses("user = root\n", "a.conf:1: ", "root");
	refuses("strict = true\n\nstrict = false\n", "a.conf:3: ", "already set in line 1");
	refuses("local = {10.0.0.0/8}\nlocal = {11.0.0.0/8}\n", "a.conf:2: ", "already set");
	refuses("view = {host, both}\n", "a.conf:1: ", "view = {host, both}: one value is expected, without braces");
	refuses("view = {host} # x\n", "a.conf:1: ", "view = {host}: one value is expected, without braces");
	refuses("strict\nview = host\n", "a.conf:", "equal sign after option 'strict'");
	refuses("strict\n", "a.conf:", "premature end");
	refuses("strict =\n", "a.conf:", "premature end");
	refuses("\nfilter = \"tcp\nstrict = true\n", "a.conf:2: ", "unterminated quote");
	refuses("\nfilter = 'tcp\n\n", "a.conf:2: ", "unterminated quote");
	refuses("interface = {a, b\n", "a.conf:", "premature end");
	refuses("strict = true\nfilter = \"tcp\\", "a.conf:2: ", "unterminated quote");
	refuses("}\n", "a.conf:1: ", "brace");
	refuses("include(\"/etc/passwd\")\n", "a.conf:1: ", "'include'");
}

/* What lacks quotes or braces, and what has a blank too many. */
static void
test_quotes_are_missing(void **state)
{
	(void)state;
	refuses("\nfilter = tcp port 80\n", "a.conf:2: filter = tcp port 80: ",
		"text with blanks or other characters must be quoted: filter = \"tcp port 80\"");
	refuses("filter = tcp port 80 # web\n", "a.conf:1: filter = tcp port 80: ", "filter = \"tcp port 80\"");
	refuses("filter = (tcp port 80)", "a.conf:1: ", "must be quoted: filter = \"(tcp port 80)\"");
	refuses("filter = tcp[13] & 2 != 0\n", "a.conf:1: ", "must be quoted: filter = \"tcp[13] & 2 != 0\"");
	refuses("filter =\n  tcp port 80  # web\n", "a.conf:2: ", "filter = \"tcp port 80\"");
	refuses("filter = \"tcp\" port 80\n", "a.conf:1: ", "must be quoted: filter = '\"tcp\" port 80'");
	refuses("records-where = cr_duration_us > 1s\n", "a.conf:1: ", "records-where = \"cr_duration_us > 1s\"");
	refuses("records-where = server_port == 443\n", "a.conf:1: ", "records-where = \"server_port == 443\"");
	refuses("records-where = client_comm == \"x\"\n", "a.conf:1: ", "records-where = 'client_comm == \"x\"'");
	refuses("http-port = 80,8080\n", "a.conf:1: ", "must be quoted: http-port = \"80,8080\"");
	refuses("http-port = 80, 8080 # x\n", "a.conf:1: ", "must be quoted: http-port = \"80, 8080\"");
	refuses("print = tcp-send,tcp-receive\n", "a.conf:1: ", "must be quoted: print = \"tcp-send,tcp-receive\"");
	refuses("http-port = {80,8080}\n", "a.conf:1: ",
		"the list stands in quotes, not in braces: http-port = \"80,8080\"");
	refuses("print = { \"tcp-send\", 'tcp-receive' } # x\n", "a.conf:1: ", "print = \"tcp-send,tcp-receive\"");
	refuses("print = {\ntcp-send\n}\n", "a.conf:1: ", "in quotes, not in braces: print = \"...\"");
	refuses("tcp-idle = 5 m\n", "a.conf:1: ",
		"tcp-idle = 5 m: a unit follows its number without a blank: tcp-idle = 5m");
	refuses("flight-memory = 64 M # x\n", "a.conf:1: ", "flight-memory = 64M");
	refuses("interface = eth0, eth1\n", "a.conf:1: interface = eth0, eth1: ",
		"several values stand in braces, and each in quotes: interface = {\"...\", \"...\"}");
	refuses("local = 10.0.0.0/8 ::1\n", "a.conf:1: ", "several values stand in braces");
	refuses("formula = x = tcp-send\n", "a.conf:1: ", "formula = {\"...\", \"...\"}");
	refuses("formula = {x = tcp-send}\n", "a.conf:1: ",
		"formula, at x = tcp-send}: a comma or } is missing, or text");
	refuses("interface = {a,\n b\n c}\n", "a.conf:3: ", "interface, at c}: a comma or } is missing");
	takes("strict = true view = host immediate=true\tinterface = eth0 interface += {lo} local += ::1 # x\n");
	assert_true(config.strict && config.immediate && config.view == VIEW_HOST);
	assert_string_equal(config.interface_names[1], "lo");
	takes("filter = \"tcp port 80\" # web\nhttp-port = \"80,8080\"#\ntcp-idle = 5m view = host\n");
}

/* Comments, and what only looks like one; lines count right after them. */
static void
test_comments(void **state)
{
	(void)state;
	takes("# one\n#two = 2\n  # \"three\n strict = true # four\n#\nsummary = true#y\n");
	assert_true(config.strict && config.summary);
	takes("interface = {\"#0\", '//1', \"/*2\", a//b, \"it's # 3\", \"\\\"# 4\"} # {\"5\"}\nlocal = 10.0.0.0/8\n");
	assert_string_equal(config.interface_names[0], "#0");
	assert_string_equal(config.interface_names[1], "//1");
	assert_string_equal(config.interface_names[2], "/*2");
	assert_string_equal(config.interface_names[3], "a//b");
	assert_string_equal(config.interface_names[4], "it's # 3");
	assert_string_equal(config.interface_names[5], "\"# 4");
	assert_null(config.interface_names[6]);
	assert_int_equal(config.local_prefix_count, 1);
	refuses("# one\n# two\n\n# \"four\nmax-flows = 3\n", "a.conf:5: ", "max-flows");
	refuses("// two = 2\n", "a.conf:1: ", "'//'");
	refuses("/* two */\n", "a.conf:1: ", "'/*'");
	refuses("strict = true // x\n", "a.conf:1: ", "must be quoted: strict = \"true // x\"");
	refuses("interface = {\"a\nb\", # x\n\"c\"}\nview = x", "a.conf:4: ", "view");
}

/* Quotes, variables of the environment, and what ends a word. */
static void
test_words(void **state)
{
	(void)state;
	setenv("NETOBS_TEST_WORD", "eth7", 1);
	setenv("NETOBS_TEST_EMPTY", "", 1);
	unsetenv("NETOBS_TEST_NONE");
	takes("interface = {a${NETOBS_TEST_WORD}b, \"${NETOBS_TEST_WORD}\", '${NETOBS_TEST_WORD}', \"\\${X}\", "
	      "\"x${NETOBS_TEST_EMPTY}\","
	      "\"$\", $x, \"${\", 'c\\d\\\\', 'g\\', \"e\nf\",}print = tcp-*\n\"strict\"=\"true\"");
	assert_string_equal(config.interface_names[0], "aeth7b");
	assert_string_equal(config.interface_names[1], "eth7");
	assert_string_equal(config.interface_names[2], "${NETOBS_TEST_WORD}");
	assert_string_equal(config.interface_names[3], "${X}");
	assert_string_equal(config.interface_names[4], "x");
	assert_string_equal(config.interface_names[5], "$");
	assert_string_equal(config.interface_names[6], "$x");
	assert_string_equal(config.interface_names[7], "${");
	assert_string_equal(config.interface_names[8], "c\\d\\\\");
	assert_string_equal(config.interface_names[9], "g\\");
	assert_string_equal(config.interface_names[10], "e\nf");
	assert_null(config.interface_names[11]);
	assert_string_equal(config.print_probes, "tcp-*");
	assert_true(config.strict);
	refuses("strict += true\n", "a.conf:1: ", "non-list option 'strict'");
	refuses("\ninterface = ${NETOBS_TEST_NONE}\n", "a.conf:2: ",
		"${NETOBS_TEST_NONE} is not set in the environment");
	refuses("control = \"/run/${NETOBS_TEST_NONE}/x\"\n", "a.conf:1: ", "${NETOBS_TEST_NONE} is not set");
	refuses("interface = {x${NETOBS_TEST_NONE}}\n", "a.conf:1: ", "${NETOBS_TEST_NONE} is not set");
	refuses("${NETOBS_TEST_NONE} = x\n", "a.conf:1: ", "${NETOBS_TEST_NONE} is not set");
	takes("# ${NETOBS_TEST_NONE}\ninterface = '${NETOBS_TEST_NONE}'\n");
	refuses("interface = (a)\n", "a.conf:1: ", "several values stand in braces");
	refuses("interface = {(a)}\n", "a.conf:1: ", "unexpected token '('");
	refuses("interface = {a b}\n", "a.conf:1: ", "a comma or } is missing");
	refuses("\nstrict + true\n", "a.conf:2: ", "missing equal sign after option 'strict'");
	refuses("= true\n", "a.conf:1: ", "unexpected token '='");
	refuses("view = \"host\n\nx\"\n", "a.conf:1: ", "view = host ...: expected");
}

/* A list of more values than anybody needs. */
static void
test_long_lists(void **state)
{
	static const struct {
		const char *name, *value, *error;
	} rows[] = {{"interface", "e", "interface = e: too many values: there can be 4096"},
		    {"local", "192.0.2.0/24", "local = 192.0.2.0/24: too many values"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		static char text[80000];
		size_t used = (size_t)snprintf(text, sizeof text, "%s = {", rows[i].name);

		for (unsigned n = 0; n < 4096; n++)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s,", rows[i].value);
		memcpy(text + used, "}\n", 3);
		takes(text);
		snprintf(text + used, sizeof text - used, "%s}\n", rows[i].value);
		refuses(text, "a.conf:1: ", rows[i].error);
	}
}

/* Options that select the work of a single run are not settings. */
static void
test_not_in_files(void **state)
{
	static const char *const names[] = {"read", "pace", "wait-tracer", "wait-probes", "list-probes", "help",
					    "config", "check-config", "install-formulas", "print-config", "foreground"};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(text, sizeof text, "%s = 1\n", names[i]);
		refuses(text, "a.conf:1: ", "no such option");
	}
}

/* A setting without one that it needs, and the metrics address: with the line, before the start. */
static void
test_settings_that_need_others(void **state)
{
	size_t records = (size_t)(options_find_setting("records") - options_table);

	(void)state;
	refuses("strict = true\nrecords-where = 'server_port == 1'\n", "a.conf:2: ", "records-where needs records");
	refuses("records-fields = client\n", "a.conf:1: ", "records-fields needs records");
	refuses("print-fields = pkt_ts\n", "a.conf:1: ", "print-fields needs print");
	refuses("\nformat = json\n", "a.conf:2: ", "format needs print, records or list-probes");
	refuses("flight-snap = 96\n", "a.conf:1: ", "flight-snap needs flight-memory");
	refuses("flight-bytes = 1M\nflight-memory = 0\n", "a.conf:1: ", "flight-bytes needs flight-memory");
	takes("flight-snap = 0\nflight-bytes = 0\n");
	takes("records-fields = client\nformat = json\nrecords = /x\nflight-snap = 96\nflight-memory = 1M\n");
	overridden[records] = true;
	refuses("records = /x\nrecords-fields = client\n", "a.conf:2: ", "records-fields needs records");
	overridden[records] = false;
	refuses("\nmetrics = 0.0.0.0:9098\n", "a.conf:2: metrics = 0.0.0.0:9098: ",
		"other hosts can reach this address: metrics-anywhere allows that");
	refuses("metrics = \"[::]:9098\"\n", "a.conf:1: ", "metrics-anywhere allows that");
	takes("metrics = 0.0.0.0:9098\nmetrics-anywhere = true\n");
	takes("metrics = 127.1.2.3:9098\n");
	takes("metrics = \"[::1]:9098\"\n");
	takes("metrics = unix:/run/netobs/metrics\n");
	refuses("metrics = localhost:9098\n", "a.conf:1: ", "expected unix:PATH, ADDRESS:PORT or [ADDRESS]:PORT");
	refuses("metrics = \"127.0.0.1:0\"\n", "a.conf:1: ", "expected unix:PATH");
	refuses("metrics = \"unix:\"\n", "a.conf:1: ", "expected unix:PATH");
}

/* Overridden values are checked, too. */
static void
test_overridden(void **state)
{
	size_t flows = (size_t)(options_find_setting("max-flows") - options_table);

	(void)state;
	overridden[flows] = true;
	takes("max-flows = 5000\nstrict = true\n");
	assert_int_equal(config.flow_limits.flows, flow_limits_default().flows);
	assert_true(config.strict);
	refuses("max-flows = 5\n", "a.conf:1: ", "whole number");
	overridden[flows] = false;
}

static char *
printed(const struct config *what)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	config_print(stream, what);
	fclose(stream);
	return text;
}

static void
test_print_round_trip(void **state)
{
	static const char *const files[] = {
	    "",
	    "interface = {'a\"b', 'c\\d', 'e${HOME}', \"f'g\", \"h i\", \"#j\", \"k\\nl\"}\n",
	    "filter = 'tcp[tcpflags] & (tcp-syn|tcp-fin) != 0 and not net 10.0.0.0/8'\n",
	    "filter = \"tcp or udp\"\nlocal = {10.0.0.0/8, ::1}\nprint = \"tcp-*,udp-send\"\nformat = json\n",
	    ("connect-timeout = 0.001\ntime-wait = 31535999.1234567\ntcp-idle = 3.33333\nstrict = true\n"
	     "view = monitor\n"),
	    "buffer-size = 2097151\nsnapshot-length = 1\nmax-flows = 100000000\nno-inner = true\nuser = nobody\n",
	};
	struct config again;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char *first, *second;

		takes(files[i]);
		config.print = config.print != PRINT_OFF ? config.list_format : PRINT_OFF; /* as options.c does */
		first = printed(&config);
		if (!parse_into(&again, first))
			fail_msg("what was printed was refused: %s\n%s", logged, first);
		again.print = again.print != PRINT_OFF ? again.list_format : PRINT_OFF;
		second = printed(&again);
		assert_string_equal(first, second);
		for (size_t row = 0; row < options_table_rows; row++)
			if (options_table[row].source != OPTION_COMMAND_LINE)
				assert_true(options_values_equal(&options_table[row], &config, &again));
		config_free(&again);
		free(first);
		free(second);
	}
}

/* Gives a row the first value that it takes and that is not the one it has in `other`. */
static void
make_different(const struct option_row *row, struct config *changed, const struct config *other)
{
	static const char *const values[] = {"true", "7", "77", "600", "x", "udp", "both", "json", "plain", "nobody",
					     "192.0.2.0/24", "unix:/y", "tcp-*", "live", "f = tcp-send", "client",
					     "64M", "server_port"};
	char why[256];

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		if (row->kind->set(changed, row, values[i], why, sizeof why) &&
		    !options_values_equal(row, changed, other))
			return;
	fail_msg("%s has no value that differs: add one to the list", row->name);
}

/* A reload applies every row that the table marks, and no other. */
static void
test_reload_applies_the_marked_rows(void **state)
{
	struct config now, fresh, wanted;

	(void)state;
	assert_true(parse_into(&now, "local = {10.0.0.0/8, ::1}\n"));
	assert_true(config_set_defaults(&fresh));
	assert_true(config_set_defaults(&wanted));
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->source == OPTION_COMMAND_LINE)
			continue;
		make_different(row, &fresh, &now);
		make_different(row, &wanted, &now);
	}
	reload_copy_settings(&now, &fresh);
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->source != OPTION_COMMAND_LINE &&
		    options_values_equal(row, &now, &wanted) != (row->change == OPTION_AT_RELOAD))
			fail_msg("%s: the table and reload_copy_settings() disagree", row->name);
	}
	config_free(&wanted);
	config_free(&now);
	config_free(&fresh);
}

static void
test_files(void **state)
{
	char path[] = "/tmp/netobs-test-config.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	fclose(fdopen(fd, "w"));
	config_free(&config);
	assert_true(config_set_defaults(&config));
	assert_true(config_file_read(path, &config, overridden));
	remove(path);
	assert_false(config_file_read(path, &config, overridden));
	assert_non_null(strstr(logged, "No such file"));
	assert_false(config_file_read("/", &config, overridden));
	assert_non_null(strstr(logged, "directory"));
	assert_false(config_file_read("/dev/zero", &config, overridden));
	assert_non_null(strstr(logged, "not a plain file"));
}

static int
clean_up(void **state)
{
	(void)state;
	config_free(&config);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_settings),
	    cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_quotes_are_missing),
	    cmocka_unit_test(test_comments),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_long_lists),
	    cmocka_unit_test(test_not_in_files),
	    cmocka_unit_test(test_settings_that_need_others),
	    cmocka_unit_test(test_overridden),
	    cmocka_unit_test(test_print_round_trip),
	    cmocka_unit_test(test_reload_applies_the_marked_rows),
	    cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
