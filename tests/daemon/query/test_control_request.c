/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of the control socket: valid ones are parsed, all others rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/text.h"
#include "daemon/query/control_request.h"

static bool
parse(const char *text, struct control_request *request, char why[256])
{
	char line[4097];

	snprintf(line, sizeof line, "%s", text);
	why[0] = '\0';
	return control_request_parse(line, request, why, 256);
}

static void
test_good(void **state)
{
	static const char *const good[] = {
	    "status",	  "  probes\t",	  "interfaces",
	    "counters\r", "connection 1", "connection --json 18446744073709551615",
	    "reload",	  "debug",	  "debug live,host owner",
	    "debug off",
	};
	struct control_request request;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(parse(good[i], &request, why));
	assert_true(parse("status", &request, why));
	assert_int_equal(request.command, REQUEST_STATUS);
	assert_true(parse("connection 42", &request, why));
	assert_int_equal(request.command, REQUEST_CONNECTION);
	assert_int_equal(request.cid, 42);
	assert_false(request.json);
}

static void
test_filter(void **state)
{
	struct control_request request;
	char why[256];

	(void)state;
	assert_true(parse("connections", &request, why));
	assert_false(request.filter.has_port || request.filter.has_host || request.filter.has_protocol);
	assert_string_equal(request.filter.state, "");
	assert_true(parse("connections --fields=cid,comm", &request, why));
	assert_int_equal(request.connection_fields.count, 2);
	assert_int_equal(request.owners, OWNERS_LOCAL);
	assert_true(parse("connections state=established port 80 host 10.0.0.1 proto=tcp", &request, why));
	assert_string_equal(request.filter.state, "established");
	assert_int_equal(request.filter.port, 80);
	assert_int_equal(request.filter.version, 4);
	assert_memory_equal(request.filter.host, "\x0a\x00\x00\x01", 4);
	assert_int_equal(request.filter.protocol, 6);
	assert_true(parse("connections host=2001:db8::1 state state-time-wait", &request, why));
	assert_int_equal(request.filter.version, 6);
	assert_string_equal(request.filter.state, "time-wait");
	assert_true(parse("connections state cookie-wait proto sctp port 0", &request, why));
}

static void
test_bad(void **state)
{
	static const char *const bad[] = {
	    "",
	    " ",
	    "--json",
	    "status --json",
	    "Status",
	    "status x",
	    "statusx",
	    "connection",
	    "connection 1 2",
	    "connection -1",
	    "connection 18446744073709551616",
	    "connection 0x10",
	    "connections port",
	    "connections port=",
	    "connections port -1",
	    "connections port 65536",
	    "connections port +1",
	    "connections =",
	    "connections x",
	    "connections state",
	    "connections state=",
	    "connections state state-",
	    "connections host 1.2.3",
	    "connections host 1::2::3",
	    "connections proto icmp",
	    "connections por 1",
	    "connections proto tcp proto",
	    "connections proto tcp proto x",
	    "connections port 1 port",
	    "connections proto=tcp proto=",
	    "a b c d e f g h i j k l m n o p q",
	    "reload now",
	    "debug nothing",
	    "debug live,",
	    "debug live host,x",
	};
	struct control_request request;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (parse(bad[i], &request, why))
			fail_msg("understood: \"%s\"", bad[i]);
		assert_true(why[0] != '\0');
	}
}

/* The error of a filter names the cure. */
static void
test_hints_of_a_filter(void **state)
{
	static const struct {
		const char *line, *error;
	} bad[] = {
	    {"connections client_resent > 3",
	     "an expression needs the word \"where\" in front: where client_resent > 3"},
	    {"connections --fields=cid port 80 client_bytes>3", "an expression needs the word \"where\" in front: "
								"where client_bytes>3"},
	    {"connections client_comm like x*",
	     "an expression needs the word \"where\" in front: where client_comm like x*"},
	    {"connections a > 1 && b > 2 && c > 3 && d > 4 && e > 5",
	     "an expression needs the word \"where\" in front: where a > 1 && b > 2 && c > 3 && d > 4 &&..."},
	    {"connections aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa > 1",
	     "an expression needs the word \"where\" in front: where "
	     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."},
	    {"connections whrre client_resent > 3", "unknown condition \"whrre\" (did you mean where?)"},
	    {"connections whrre x", "unknown condition \"whrre\" (did you mean where?): "
				    "state, port, host, proto, cid or where EXPRESSION"},
	    {"connections prot=80", "unknown condition \"prot=80\" (did you mean port?): state, port, host, proto, cid "
				    "or where EXPRESSION"},
	    {"connections size 3", "unknown condition \"size\": state, port, host, proto, cid or where EXPRESSION"},
	};
	struct control_request request;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(parse(bad[i].line, &request, why));
		assert_string_equal(why, bad[i].error);
	}
}

/* Names and fields stay whole. */
static void
test_stream(void **state)
{
	static const struct {
		const char *line, *names, *fields;
	} good[] = {
	    {"stream", NULL, NULL},
	    {"stream --text", NULL, NULL},
	    {"stream a", "a", NULL},
	    {"stream --text a b,c  d ", "a,b,c,d", NULL},
	    {"stream --fields=x,y", NULL, "x,y"},
	    {"stream --fields= a", "a", ""},
	    {"stream\t--fields=x,y a\tbcdefghijklmnopqrst uvwxyz", "a,bcdefghijklmnopqrst,uvwxyz", "x,y"},
	    {"stream --fields=xxxxxxxxxxxxxxxxxxxxxxxxxxx,y a b", "a,b", "xxxxxxxxxxxxxxxxxxxxxxxxxxx,y"},
	};
	static const char *const bad[] = {"stream --fields=a --fields=b", "stream -x",	 "stream a --field=b",
					  "stream a --fields=b",	  "stream a -x", "stream --dir=x a"};
	struct control_request request;
	char line[4097], why[256];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		snprintf(line, sizeof line, "%s", good[i].line);
		assert_true(control_request_parse(line, &request, why, sizeof why));
		assert_int_equal(request.command, REQUEST_STREAM);
		assert_int_equal(request.operand != NULL, good[i].names != NULL);
		if (good[i].names != NULL)
			assert_string_equal(request.operand, good[i].names);
		assert_int_equal(request.fields != NULL, good[i].fields != NULL);
		if (good[i].fields != NULL)
			assert_string_equal(request.fields, good[i].fields);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(parse(bad[i], &request, why));
}

static void
test_closed(void **state)
{
	static const char *const bad[] = {"closed --last=x", "closed --last=", "closed --last", "closed --x",
					  "closed -- a == 1"};
	struct control_request request;
	char line[4097] = " closed --json --last=10m  --fields=client,reason  reason == \"fin\" && server_port == 443";
	char why[256];

	(void)state;
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_int_equal(request.command, REQUEST_CLOSED);
	assert_true(request.json);
	assert_int_equal(request.last_ns, UINT64_C(600000000000));
	assert_string_equal(request.fields, "client,reason");
	assert_string_equal(request.expression, "reason == \"fin\" && server_port == 443");
	/* Columns of mistakes count from the expression. */
	snprintf(line, sizeof line, "closed where  a == 1");
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_string_equal(request.expression, "a == 1");
	snprintf(line, sizeof line, "connections --json where  a == 1 ");
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_string_equal(request.expression, "a == 1");
	snprintf(line, sizeof line, "closed");
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_true(request.last_ns == 0 && request.expression == NULL && request.fields == NULL && !request.json);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snprintf(line, sizeof line, "%s", bad[i]);
		assert_false(control_request_parse(line, &request, why, sizeof why));
	}
}

static void
test_write(void **state)
{
	static const char *const bad[] = {"write --format=erf",
					  "write --format",
					  "write --cid=0",
					  "write --cid=x",
					  "write --last=0s",
					  "write --last=10",
					  "write --last=3153600001s",
					  "write --last=s",
					  "write --cid=1 --last=1s",
					  "write --x tcp",
					  "write --link-types=1",
					  "write --"};
	struct control_request request;
	char line[4097] = "  write --format=snoop --last=500ms  1 2,48 0 0 9,6 0 0 262144";
	char why[256];

	(void)state;
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_int_equal(request.command, REQUEST_WRITE);
	assert_int_equal(request.format, CAPTURE_SNOOP);
	assert_int_equal(request.last_ns, 500000000);
	assert_string_equal(request.operand, "1 2,48 0 0 9,6 0 0 262144");
	assert_true(parse("write", &request, why));
	assert_int_equal(request.command, REQUEST_WRITE);
	assert_null(request.operand);
	assert_true(parse("write --cid=42", &request, why));
	assert_int_equal(request.cid, 42);
	assert_int_equal(request.format, CAPTURE_PCAPNG);
	assert_null(request.operand);
	assert_false(request.link_types);
	assert_true(parse("write --link-types", &request, why));
	assert_true(request.link_types);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(parse(bad[i], &request, why));
}

/* What is wrong with an option or an operand is said in the same words for every request. */
static void
test_messages(void **state)
{
	static const struct {
		const char *line, *error;
	} bad[] = {
	    {"statu",
	     "unknown command (did you mean status?); commands are status, connections, connection, probes, "
	     "interfaces, counters, reload, debug, formulas, define, undefine, sites, stream, write and closed"},
	    {" ", "the request is empty"},
	    {"stream --feilds=a", "stream: unknown option \"--feilds=a\" (did you mean --fields?); options are "
				  "--fields= and --text"},
	    {"write --x", "write: unknown option \"--x\"; options are --last=, --format=, --cid= and "
			  "--link-types"},
	    {"write --limit=1", "write: unknown option \"--limit=1\"; options are --last=, --format=, --cid= "
				"and --link-types"},
	    {"closed --", "closed: unknown option \"--\"; options are --json, --notes, --last=, --fields=, --sort= "
			  "and --limit="},
	    {"closed --limit=2 --limit=2", "closed: --limit is given twice"},
	    {"closed --sort reason", "closed: --sort needs a value"},
	    {"closed --notes=x", "closed: --notes takes no value"},
	    {"closed --limit=0", "closed: --limit: expected a number of connections from 1, not \"0\""},
	    {"closed --last=10x", "closed: --last: expected a time from 1ns to 36500d with a unit as in 500ms, 90s, "
				  "5m, 1h, not \"10x\""},
	    {"write --format=erf", "write: --format: expected pcapng, pcap or snoop, not \"erf\""},
	    {"write --cid=1 --last=1s", "write: give either --cid or --last"},
	    {"status --json", "status: unknown option \"--json\"; it takes none"},
	    {"reload now", "reload takes no operands"},
	    {"connection", "connection: expected one connection id, as listed by \"connections\""},
	    {"define ", "define: expected a definition, NAME = PROBE where EXPRESSION"},
	    {"formulas a b", "formulas: expected the name of a formula, as listed by \"formulas\""},
	    {"undefine", "undefine: expected the name of a formula, as listed by \"formulas\""},
	    {"stream a --fields=b", "stream: options stand in front of names"},
	};
	struct control_request request;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(parse(bad[i].line, &request, why));
		assert_string_equal(why, bad[i].error);
	}
}

/* Only the filter of a capture makes a request longer than others. */
static void
test_length(void **state)
{
	static const char *const names[] = {"closed", "define", "write"};
	struct control_request request;
	char line[CONTROL_REQUEST_MAX + 1], why[256] = "";

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (size_t length = CONTROL_REQUEST_MAX - 1; length <= CONTROL_REQUEST_MAX; length++) {
			memset(line, 'x', length);
			line[length] = '\0';
			memcpy(line, names[i], strlen(names[i]));
			line[strlen(names[i])] = ' ';
			assert_int_equal(control_request_parse(line, &request, why, sizeof why),
					 length < CONTROL_REQUEST_MAX || i == 2);
		}
	assert_string_equal(why, "the request is longer than 4096 bytes");
}

/* Random bytes are accepted or rejected; sanitizers check the memory. */
static void
test_noise(void **state)
{
	static const char *const words[] = {
	    "connections", "connection",  "--json",    "state", "=",	  "port",    "host",
	    "80",	   "stream",	  "--fields=", "write", "--cid=", "--last=", "--format=",
	    " ",	   "established", "\t",	       "proto", "tcp",	  "::",	     "9999999999999999999999",
	    "state-",
	};
	char line[4097], why[256];
	struct control_request request;

	(void)state;
	srand(1);
	for (unsigned round = 0; round < 20000; round++) {
		size_t used = 0;

		while (used < sizeof line - 32 && rand() % 20 != 0)
			used += (size_t)snprintf(line + used, sizeof line - used, "%s%s",
						 words[(size_t)rand() % (sizeof words / sizeof words[0])],
						 rand() % 2 != 0 ? " " : "");
		line[used] = '\0';
		if (!control_request_parse(line, &request, why, sizeof why))
			assert_true(strlen(why) < sizeof why);
	}
}

/* A piece of text is appended whole or not at all. */
static void
add_string(struct text_buffer *text, const char *string)
{
	struct json json = text_json(text);

	json_add_string(&json, NULL, string);
}

static void
test_text(void **state)
{
	char room[16];
	struct text_buffer text = {.bytes = room, .size = sizeof room};

	(void)state;
	text_add_format(&text, "%s", "0123456789");
	text_add_format(&text, "%s", "abcdef");
	assert_true(text.truncated);
	assert_int_equal(text.used, 10);
	text_add_format(&text, "%s", "abcde");
	assert_int_equal(text.used, 15);
	text = (struct text_buffer){.bytes = room, .size = sizeof room};
	add_string(&text, "a\"\n");
	assert_int_equal(text.used, 7);
	assert_memory_equal(room, "\"a\\\"\\n\"", 7);
	text = (struct text_buffer){.bytes = room, .size = sizeof room};
	text_add_escaped(&text, "a\x1b[");
	assert_string_equal(room, "a\\x1b[");
	text_add_escaped(&text, "\n\\");
	assert_string_equal(room, "a\\x1b[\\x0a\\\\");
	assert_false(text.truncated);
	text_add_escaped(&text, "bcdef");
	assert_string_equal(room, "a\\x1b[\\x0a\\\\");
	assert_true(text.truncated);
	text = (struct text_buffer){.bytes = room, .size = sizeof room};
	add_string(&text, "\xc3\xbc\x80\xe2\x80\xae");
	assert_string_equal(room, "\"\xc3\xbc\\u0080\\u202e");
	assert_true(text.truncated);
	text = (struct text_buffer){.bytes = room, .size = sizeof room};
	text_add_number(&text, 0);
	text_add_number(&text, 1020);
	assert_string_equal(room, "01020");
	text_add_number(&text, UINT64_MAX);
	assert_string_equal(room, "01020");
	assert_true(text.truncated);
	text_add_bytes(&text, "0123456789", 10);
	assert_string_equal(room, "010200123456789");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),   cmocka_unit_test(test_filter), cmocka_unit_test(test_hints_of_a_filter),
	    cmocka_unit_test(test_bad),	   cmocka_unit_test(test_stream), cmocka_unit_test(test_messages),
	    cmocka_unit_test(test_length), cmocka_unit_test(test_closed), cmocka_unit_test(test_write),
	    cmocka_unit_test(test_noise),  cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
