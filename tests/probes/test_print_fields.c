/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of chosen fields: their order, their names, what a probe does not have, and mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probes/print/print_fields.h"
#include "tests/lib/json_check.h"
#include "tests/probes/probe_args_sample.h"

static struct probe_args_sample samples;
static char line[PRINT_LINE_MAX + 1];
static char error[256];

/* Fields for one probe, or with wildcards for several. */
static struct print_fields *
compile(const char *list, const char *probes)
{
	bool selected[PROBE_COUNT];
	const char *unknown;
	size_t length;

	error[0] = '\0';
	assert_true(manifest_select_probes(probes, selected, &unknown, &length));
	return print_fields_new(list, selected, error, sizeof error);
}

static const char *
print_line(const char *list, enum print_format format, const char *formula, enum probe_id id)
{
	struct print_fields *fields = compile(list, "*");
	const void *args[6];
	char *end;

	if (fields == NULL)
		return error;
	probe_args_sample_args(&samples, id, args);
	end = print_fields_line(fields, format, formula, id, args, line);
	print_fields_free(fields);
	assert_true(end > line && end <= line + PRINT_LINE_MAX && end[-1] == '\n');
	end[-1] = '\0';
	return line;
}

static int
set_up(void **state)
{
	(void)state;
	probe_args_sample_fill(&samples);
	samples.tcpinfo.tcp_sport = 443;
	samples.tcpinfo.tcp_dport = 50000;
	samples.csinfo.cs_cid = 7;
	snprintf(samples.ipinfo.ip_saddr, sizeof samples.ipinfo.ip_saddr, "192.0.2.1");
	return 0;
}

static void
test_order(void **state)
{
	(void)state;
	assert_string_equal(print_line("tcp_dport,cs_cid,ip_saddr,tcp_sport", PRINT_JSON, NULL, PROBE_TCP_RECEIVE),
			    "{\"tcp_dport\":50000,\"cs_cid\":7,\"ip_saddr\":\"192.0.2.1\",\"tcp_sport\":443}");
	assert_string_equal(print_line("tcp_sport,ip_saddr,cs_cid", PRINT_TEXT, NULL, PROBE_TCP_RECEIVE),
			    "443\t192.0.2.1\t7");
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(print_line("probe,of", PRINT_JSON, NULL, PROBE_TCP_SEND),
			    "{\"probe\":\"tcp-send\",\"of\":\"tcp-send\"}");
	assert_string_equal(print_line("probe,of", PRINT_JSON, "slow", PROBE_TCP_SEND),
			    "{\"probe\":\"slow\",\"of\":\"tcp-send\"}");
	assert_string_equal(print_line("of,probe", PRINT_TEXT, "slow", PROBE_TCP_SEND), "tcp-send\tslow");
}

/* Each of the three structs that have a connection id and a time. */
static void
test_connection(void **state)
{
	struct print_fields *fields = compile("cid,ts", "tcp-send,arp-send");
	const void *args[6] = {NULL};
	char *end;

	(void)state;
	samples.csinfo.cs_ts = 1000;
	samples.conninfo.ci_cid = 8;
	samples.conninfo.ci_ts = 2000;
	samples.connrec.cr_client_cid = 9;
	samples.connrec.cr_end = 3000;
	assert_string_equal(print_line("cid,ts", PRINT_TEXT, NULL, PROBE_TCP_CONNECT_REFUSED), "7\t1000");
	assert_string_equal(print_line("probe,cid,ts", PRINT_JSON, "slow", PROBE_ISCSI_NOP_SEND),
			    "{\"probe\":\"slow\",\"cid\":8,\"ts\":2000}");
	assert_string_equal(print_line("ts,cid", PRINT_TEXT, NULL, PROBE_CONNECTION_END), "3000\t9");
	assert_string_equal(print_line("cid,ts", PRINT_TEXT, NULL, PROBE_ARP_SEND), "-\t-");
	assert_non_null(fields);
	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	args[1] = NULL;
	end = print_fields_line(fields, PRINT_TEXT, NULL, PROBE_TCP_SEND, args, line);
	*end = '\0';
	assert_string_equal(line, "-\t-\n");
	print_fields_free(fields);
	assert_null(compile("cid", "arp-*,gld-*"));
	assert_string_equal(error, "the probes have no field \"cid\"");
}

/* A 64-bit identity is text, as in whole lines. */
static void
test_identity(void **state)
{
	(void)state;
	samples.connrec.cr_uid = 0x123456789abcdef;
	assert_string_equal(print_line("cr_uid", PRINT_JSON, NULL, PROBE_CONNECTION_END),
			    "{\"cr_uid\":\"0123456789abcdef\"}");
	assert_string_equal(print_line("cr_uid", PRINT_TEXT, NULL, PROBE_CONNECTION_END), "0123456789abcdef");
}

/* The argument by its name or its type. */
static void
test_prefixes(void **state)
{
	(void)state;
	assert_string_equal(
	    print_line("tcp.tcp_sport,tcpinfo.tcp_dport,csinfo_t.cs_cid", PRINT_JSON, NULL, PROBE_TCP_SEND),
	    "{\"tcp.tcp_sport\":443,\"tcpinfo.tcp_dport\":50000,\"csinfo_t.cs_cid\":7}");
	assert_null(compile("udp.tcp_sport", "*"));
	assert_string_equal(error, "the probes have no field \"udp.tcp_sport\" (did you mean tcp_sport?)");
	assert_null(compile("tc.tcp_sport", "*"));
	assert_null(compile("tcpinfo_.tcp_sport", "*"));
	assert_null(compile(".tcp_sport", "*"));
	assert_null(compile("tcp.", "*"));
}

/* A field that the probe does not have, and an argument that is absent. */
static void
test_absent(void **state)
{
	struct print_fields *fields = compile("udp_sport,cs_cid,ip_saddr", "*");
	const void *args[6] = {NULL};
	char *end;

	(void)state;
	assert_non_null(fields);
	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	args[1] = NULL;
	end = print_fields_line(fields, PRINT_JSON, NULL, PROBE_TCP_SEND, args, line);
	*end = '\0';
	assert_string_equal(line, "{\"udp_sport\":null,\"cs_cid\":null,\"ip_saddr\":\"192.0.2.1\"}\n");
	end = print_fields_line(fields, PRINT_TEXT, NULL, PROBE_TCP_SEND, args, line);
	*end = '\0';
	assert_string_equal(line, "-\t-\t192.0.2.1\n");
	print_fields_free(fields);
}

/* In JSON, fields that the probe does not have are left out if the list says so; an absent argument stays null. */
static void
test_omit_missing(void **state)
{
	struct print_fields *fields = compile("udp_sport,cs_cid,tcp_sport,ip_saddr", "*");
	const void *args[6] = {NULL};
	char *end;

	(void)state;
	assert_non_null(fields);
	print_fields_omit_missing(fields);
	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	args[1] = NULL;
	end = print_fields_line(fields, PRINT_JSON, NULL, PROBE_TCP_SEND, args, line);
	*end = '\0';
	assert_string_equal(line, "{\"cs_cid\":null,\"tcp_sport\":443,\"ip_saddr\":\"192.0.2.1\"}\n");
	end = print_fields_line(fields, PRINT_TEXT, NULL, PROBE_TCP_SEND, args, line);
	*end = '\0';
	assert_string_equal(line, "-\t-\t443\t192.0.2.1\n");
	probe_args_sample_args(&samples, PROBE_ARP_SEND, args);
	end = print_fields_line(fields, PRINT_JSON, NULL, PROBE_ARP_SEND, args, line);
	*end = '\0';
	assert_string_equal(line, "{}\n");
	print_fields_free(fields);
}

/* Hostile text stays in its column. */
static void
test_hostile(void **state)
{
	(void)state;
	snprintf(samples.csinfo.cs_comm, sizeof samples.csinfo.cs_comm, "a\tb\"\n\x1b");
	assert_string_equal(print_line("cs_comm,cs_cid", PRINT_TEXT, NULL, PROBE_TCP_SEND), "a\\x09b\"\\x0a\\x1b\t7");
	print_line("cs_comm,cs_cid", PRINT_JSON, NULL, PROBE_TCP_SEND);
	assert_null(strpbrk(line, "\n\t\x1b"));
	set_up(NULL);
}

static void
test_mistakes(void **state)
{
	char list[PRINT_FIELDS_MAX * 8 + 64] = "";
	size_t used = 0;

	(void)state;
	assert_null(compile("tcp_sprt", "tcp-*"));
	assert_string_equal(error, "the probes have no field \"tcp_sprt\" (did you mean tcp_sport?)");
	assert_null(compile("tcp_sport", "udp-send"));
	assert_null(compile("tcp_sport,tcp_sport", "tcp-send"));
	assert_string_equal(error, "the field \"tcp_sport\" is given twice");
	assert_null(compile("", "tcp-send"));
	assert_null(compile("tcp_sport,", "tcp-send"));
	assert_null(compile(",tcp_sport", "tcp-send"));
	assert_string_equal(error, "the list of fields has an empty word");
	for (unsigned i = 0; i <= PRINT_FIELDS_WORD_MAX; i++)
		list[i] = 'a';
	assert_null(compile(list, "tcp-send"));
	/* The memory address of a header is meaningless outside the process. */
	assert_null(compile("tcp_hdr", "tcp-send"));
	memset(list, 0, sizeof list);
	for (unsigned i = 0; i <= PRINT_FIELDS_MAX; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%sw%u", i > 0 ? "," : "", i);
	assert_null(compile(list, "tcp-send"));
}

/* All fields of a probe that a list may have: the line is JSON and fits. */
static void
test_all_fields(void **state)
{
	(void)state;
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		char list[4096] = "";
		size_t used = 0;
		unsigned count = 0;

		for (unsigned i = 0; i < manifest_probes[id].arg_count; i++) {
			const struct argument_info *argument = &manifest_probes[id].args[i];

			for (size_t k = 0; argument->type != NULL && k < argument->type->field_count; k++)
				if (argument->type->fields[k].kind != FIELD_POINTER && count++ < 50)
					used += (size_t)snprintf(list + used, sizeof list - used, "%s%s.%s",
								 used > 0 ? "," : "", argument->name,
								 argument->type->fields[k].name);
		}
		print_line(list, PRINT_JSON, NULL, (enum probe_id)id);
		assert_int_equal(line[0], '{');
		assert_true(json_check(line, strlen(line), &(size_t){0}));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),      cmocka_unit_test(test_names),    cmocka_unit_test(test_identity),
	    cmocka_unit_test(test_connection), cmocka_unit_test(test_prefixes), cmocka_unit_test(test_absent),
	    cmocka_unit_test(test_omit_missing),
	    cmocka_unit_test(test_hostile),    cmocka_unit_test(test_mistakes), cmocka_unit_test(test_all_fields),
	};

	return cmocka_run_group_tests_name("print_fields", tests, set_up, NULL);
}
