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
	    "status",	    "  probes\t", "interfaces", "counters\r",
	    "connections",  "connections --no-wait client_bytes > 3", "reload",
	    "debug",	    "debug live,host owner", "debug off",
	};
	struct control_request request;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(parse(good[i], &request, why));
	assert_true(parse("status", &request, why));
	assert_int_equal(request.command, REQUEST_STATUS);
}

static void
test_bad(void **state)
{
	static const char *const bad[] = {
	    "", " ", "--json", "status --json", "Status", "status x", "statusx", "connection 1", "connections --cid=0",
	    "connections --cid=18446744073709551616", "connections --cid=0x10", "connections --cid", "connections --x",
	    "connections --closed=1h", "connections --limit=0", "connections --limit=4294967296", "connections --json",
	    "reload now",
	    "debug nothing", "debug live,", "debug live host,x",
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
test_connections(void **state)
{
	static const char *const bad[] = {"connections --last=x", "connections --last=", "connections --last",
					  "connections -- a == 1", "connections --last=10s"};
	struct control_request request;
	char line[4097] =
	    " connections --closed --last=10m  --fields=client,reason  reason == \"fin\" && server_port == 4";
	char why[256];

	(void)state;
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_int_equal(request.command, REQUEST_CONNECTIONS);
	assert_true(request.closed);
	assert_int_equal(request.last_ns, UINT64_C(600000000000));
	assert_string_equal(request.fields, "client,reason");
	assert_string_equal(request.operand, "reason == \"fin\" && server_port == 4");
	snprintf(line, sizeof line, "connections --limit=3 --cid=18446744073709551615  a == 1 ");
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_string_equal(request.operand, "a == 1");
	assert_int_equal(request.limit, 3);
	assert_true(request.cid == UINT64_MAX && !request.closed && !request.no_wait && !request.open);
	snprintf(line, sizeof line, "connections");
	assert_true(control_request_parse(line, &request, why, sizeof why));
	assert_true(request.last_ns == 0 && request.operand == NULL && request.fields == NULL && request.limit == 0);
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
	    {"statu", "unknown command (did you mean status?); commands are status, connections, probes, interfaces, "
		      "counters, reload, debug, formulas, define, undefine, sites, stream and write"},
	    {" ", "the request is empty"},
	    {"stream --feilds=a", "stream: unknown option \"--feilds=a\" (did you mean --fields?); options are "
				  "--fields= and --text"},
	    {"write --x", "write: unknown option \"--x\"; options are --last=, --format=, --cid= and "
			  "--link-types"},
	    {"write --limit=1", "write: unknown option \"--limit=1\"; options are --last=, --format=, --cid= "
				"and --link-types"},
	    {"connections --", "connections: unknown option \"--\"; options are --no-wait, --closed, --last=, "
			       "--fields=, --limit= and --cid="},
	    {"connections --limit=2 --limit=2", "connections: --limit is given twice"},
	    {"connections --fields reason", "connections: --fields needs a value"},
	    {"connections --closed=x", "connections: --closed takes no value"},
	    {"connections --limit=0", "connections: --limit: expected a number of connections from 1, not \"0\""},
	    {"connections --last=10s", "connections: --last needs --closed"},
	    {"connections --last=10x", "connections: --last: expected a time from 1ns to 36500d with a unit as in "
				       "500ms, 90s, 5m, 1h, not \"10x\""},
	    {"write --format=erf", "write: --format: expected pcapng, pcap or snoop, not \"erf\""},
	    {"write --cid=1 --last=1s", "write: give either --cid or --last"},
	    {"status --json", "status: unknown option \"--json\"; it takes none"},
	    {"reload now", "reload takes no operands"},
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
	static const char *const names[] = {"connections", "define", "write"};
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
	text_add_format(&text, "%s", "a");
	text_add_bytes(&text, "a", 1);
	assert_int_equal(text.used, 10); /* what follows would make the rest another text */
	text = (struct text_buffer){.bytes = room, .size = sizeof room};
	text_add_format(&text, "%s", "0123456789");
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
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_stream), cmocka_unit_test(test_messages), cmocka_unit_test(test_length),
	    cmocka_unit_test(test_connections),
	    cmocka_unit_test(test_write), cmocka_unit_test(test_noise), cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
