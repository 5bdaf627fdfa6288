/* SPDX-License-Identifier: BSD-2-Clause */
/* The manifest: the generated tables, lookups, wildcards, --list-probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probes/manifest.h"
#include "probes/netobs.h"
#include "probes/print/probe_list.h"
#include "tests/lib/json_check.h"

static void
names_are_found_in_both_spellings(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct probe_info *probe = &manifest_probes[i];

		assert_int_equal(manifest_find_probe(probe->name), i);
		assert_int_equal(manifest_find_probe(probe->c_name), i);
		assert_null(strchr(probe->c_name, '-'));
		assert_null(strchr(probe->name, '_'));
	}
	assert_int_equal(manifest_find_probe("tcp-receive"), PROBE_TCP_RECEIVE);
	assert_int_equal(manifest_find_probe("tcp-receiv"), PROBE_COUNT);
	assert_int_equal(manifest_find_probe(""), PROBE_COUNT);
}

static void
arguments_are_as_declared(void **state)
{
	const struct probe_info *probe = &manifest_probes[PROBE_TCP_STATE_CHANGE];

	(void)state;
	assert_int_equal(probe->arg_count, 6);
	assert_null(probe->args[0].type);
	assert_null(probe->args[4].type);
	assert_string_equal(probe->args[2].type->name, "tcpsinfo");
	assert_string_equal(probe->args[3].type->name, "tcpnsinfo");
	assert_string_equal(probe->args[5].type->name, "tcplsinfo");
	assert_true(probe->args[0].nullable);
	assert_false(probe->args[1].nullable);
	assert_true(manifest_probes[PROBE_TCP_RECEIVE].args[1].nullable);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		for (unsigned j = 0; j < manifest_probes[i].arg_count; j++)
			assert_true(manifest_probes[i].args[j].doc[0] != '\0');
}

static const struct struct_info *
find_struct(const char *name)
{
	for (size_t i = 0; i < STRUCT_COUNT; i++)
		if (strcmp(manifest_structs[i].name, name) == 0)
			return &manifest_structs[i];
	return NULL;
}

static void
structs_and_fields_are_found(void **state)
{
	const struct struct_info *tcp = find_struct("tcpinfo");
	const struct field_info *field;

	(void)state;
	assert_non_null(tcp);
	field = manifest_find_field(tcp, "tcp_flagstr");
	assert_non_null(field);
	assert_int_equal(field->kind, FIELD_TEXT);
	assert_int_equal(field->size, 24);
	assert_string_equal(field->type, "char[24]");
	assert_null(manifest_find_field(tcp, "tcp_pad0"));
	field = manifest_find_field(find_struct("etherinfo"), "eth_dst");
	assert_int_equal(field->kind, FIELD_BYTES);
	assert_string_equal(field->type, "uint8_t[6]");
	field = manifest_find_field(find_struct("pktinfo"), "pkt_data");
	assert_int_equal(field->kind, FIELD_POINTER);
}

static const struct field_info *
find_field(const char *struct_name, const char *name)
{
	const struct field_info *field = manifest_find_field(find_struct(struct_name), name);

	assert_non_null(field);
	return field;
}

static void
numbers_have_units(void **state)
{
	static const struct {
		const char *struct_name, *field;
		enum field_unit unit;
	} rows[] = {
		{"tcpsinfo", "tcps_srtt_us", UNIT_US},	  {"tcpsinfo", "tcps_rtt", UNIT_MS},
		{"tcpsinfo", "tcps_rto", UNIT_MS},	  {"tcpsinfo", "tcps_start", UNIT_NS},
		{"pktinfo", "pkt_ts", UNIT_NS},		  {"pktinfo", "pkt_len", UNIT_BYTES},
		{"ipinfo", "ip_plength", UNIT_BYTES},	  {"tcpsinfo", "tcps_mss", UNIT_BYTES},
		{"icmpinfo", "icmp_pmtu_update", UNIT_BYTES}, {"tcpinfo", "tcp_dport", UNIT_NONE},
		{"iscsiinfo", "ii_lun", UNIT_NONE},	  {"iscsicmd", "ic_opcode", UNIT_NONE},
		{"ipv4info", "ipv4_offset", UNIT_NONE},	  {"dccpinfo", "dccp_cscov", UNIT_NONE},
		{"etherinfo", "eth_dst", UNIT_NONE},	  {"pktinfo", "pkt_data", UNIT_NONE},
		{"ipv4info", "ipv4_length", UNIT_BYTES},  {"ipv6info", "ipv6_plen", UNIT_BYTES},
		{"sockinfo", "so_offset", UNIT_BYTES},	  {"iscsiinfo", "ii_offset", UNIT_BYTES},
		{"icmpinfo", "icmp_param_problem_ptr", UNIT_BYTES}, {"tcpinfo", "tcp_window", UNIT_NONE},
		{"connrec", "cr_start", UNIT_NS},	  {"connrec", "cr_since", UNIT_NS},
		{"connrec", "cr_duration_us", UNIT_US},	  {"connrec", "cr_answer_mean_us", UNIT_US},
		{"connrec", "cr_client_bytes", UNIT_BYTES}, {"connrec", "cr_server_wire", UNIT_BYTES},
		{"connrec", "cr_mss", UNIT_BYTES},	  {"connrec", "cr_client_segments", UNIT_NONE},
		{"connrec", "cr_uid", UNIT_NONE},	  {"connrec", "cr_rtt_samples", UNIT_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(find_field(rows[i].struct_name, rows[i].field)->unit, rows[i].unit);
}

static void
texts_of_addresses_are_known(void **state)
{
	(void)state;
	assert_true(find_field("ipinfo", "ip_saddr")->is_address);
	assert_true(find_field("arpinfo", "arp_spa")->is_address);
	assert_true(find_field("conninfo", "ci_remote")->is_address);
	assert_false(find_field("arpinfo", "arp_sha")->is_address);
	assert_false(find_field("csinfo", "cs_comm")->is_address);
	assert_false(find_field("sctpsinfo", "sctps_raddrs")->is_address);
	assert_false(find_field("etherinfo", "eth_shost")->is_address);
	assert_true(find_field("connrec", "cr_server")->is_address);
}

static void
identities_are_hexadecimal(void **state)
{
	(void)state;
	assert_true(find_field("connrec", "cr_uid")->is_hex);
	assert_false(find_field("connrec", "cr_client_cid")->is_hex);
	assert_false(find_field("connrec", "cr_client_uid")->is_hex);
	assert_false(find_field("pktinfo", "pkt_addr")->is_hex);
}

/* Every enum of the header is that of a field, and its words are the enumerators without their prefix. */
static void
enums_have_words(void **state)
{
	const struct enum_info *states = find_field("tcpsinfo", "tcps_state")->words;
	bool used[64] = {false};

	(void)state;
	assert_non_null(states);
	assert_ptr_equal(find_field("tcplsinfo", "tcps_state")->words, states);
	assert_string_equal(states->prefix, "NETOBS_TCP_");
	assert_int_equal(states->word_count, 11);
	assert_string_equal(states->words[3].name, "NETOBS_TCP_FIN_WAIT_1");
	assert_string_equal(states->words[3].word, "fin-wait-1");
	assert_int_equal(states->words[3].value, NETOBS_TCP_FIN_WAIT_1);
	assert_int_equal(find_field("tcpinfo", "tcp_flags")->words->words[2].value, NETOBS_TH_RST);
	assert_null(find_field("tcpinfo", "tcp_dport")->words);
	for (unsigned i = 0; i < STRUCT_COUNT; i++)
		for (size_t j = 0; j < manifest_structs[i].field_count; j++)
			for (size_t k = 0; k < manifest_enum_count; k++)
				used[k] = used[k] || manifest_structs[i].fields[j].words == manifest_enums[k];
	for (size_t k = 0; k < manifest_enum_count; k++)
		assert_true(used[k]);
}

static void
fields_are_aligned_and_do_not_overlap(void **state)
{
	(void)state;
	for (unsigned i = 0; i < STRUCT_COUNT; i++) {
		const struct struct_info *info = &manifest_structs[i];
		size_t end = 0;

		for (size_t j = 0; j < info->field_count; j++) {
			const struct field_info *field = &info->fields[j];
			bool scalar = field->kind != FIELD_TEXT && field->kind != FIELD_BYTES;

			assert_true(field->offset >= end);
			assert_true(!scalar || field->offset % field->size == 0);
			end = field->offset + field->size;
		}
		assert_true(end <= info->size);
	}
}

static void
assert_same_layout(const char *one, const char *other)
{
	const struct struct_info *a = find_struct(one), *b = find_struct(other);

	assert_int_equal(a->size, b->size);
	assert_int_equal(a->field_count, b->field_count);
	for (size_t i = 0; i < a->field_count; i++) {
		assert_string_equal(a->fields[i].name, b->fields[i].name);
		assert_string_equal(a->fields[i].type, b->fields[i].type);
		assert_string_equal(a->fields[i].doc, b->fields[i].doc);
		assert_int_equal(a->fields[i].offset, b->fields[i].offset);
	}
}

static void
twins_have_one_layout(void **state)
{
	(void)state;
	assert_same_layout("tcpsinfo", "tcpnsinfo");
	assert_same_layout("illinfo", "ifinfo");
}

static unsigned
count(const bool chosen[PROBE_COUNT])
{
	unsigned n = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		n += chosen[i];
	return n;
}

static void
lists_and_wildcards_choose(void **state)
{
	bool chosen[PROBE_COUNT];
	const char *unknown;
	size_t length;

	(void)state;
	assert_true(manifest_select_probes(NULL, chosen, &unknown, &length));
	assert_int_equal(count(chosen), PROBE_COUNT);
	assert_true(manifest_select_probes("", chosen, &unknown, &length));
	assert_int_equal(count(chosen), PROBE_COUNT);
	assert_true(manifest_select_probes("tcp-receive", chosen, &unknown, &length));
	assert_int_equal(count(chosen), 1);
	assert_true(chosen[PROBE_TCP_RECEIVE]);
	assert_true(manifest_select_probes("udp-*,tcp__state__change", chosen, &unknown, &length));
	assert_true(chosen[PROBE_UDP_SEND] && chosen[PROBE_UDP_RECEIVE] && chosen[PROBE_TCP_STATE_CHANGE]);
	assert_false(chosen[PROBE_TCP_SEND]);
	assert_true(manifest_select_probes("*-receive", chosen, &unknown, &length));
	assert_true(chosen[PROBE_GLD_RECEIVE]);
	assert_false(chosen[PROBE_GLD_SEND]);
}

static void
unknown_words_are_shown(void **state)
{
	static const char list[] = "tcp-send,tpc-*,udp-send";
	char long_word[300];
	bool chosen[PROBE_COUNT];
	const char *unknown = NULL;
	size_t length = 0;

	(void)state;
	assert_false(manifest_select_probes(list, chosen, &unknown, &length));
	assert_ptr_equal(unknown, list + 9);
	assert_int_equal(length, 5);
	assert_false(manifest_select_probes("tcp-send,", chosen, &unknown, &length));
	assert_int_equal(length, 0);
	memset(long_word, '*', sizeof long_word - 1);
	long_word[sizeof long_word - 1] = '\0';
	assert_false(manifest_select_probes(long_word, chosen, &unknown, &length));
	assert_int_equal(length, sizeof long_word - 1);
}

/* What probe_list_write() writes; to be freed. */
static char *
listed(enum print_format format, size_t *length)
{
	FILE *file = tmpfile();
	char *text;
	long size;

	assert_non_null(file);
	assert_int_equal(probe_list_write(fileno(file), format), 0);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	fclose(file);
	*length = (size_t)size;
	return text;
}

static void
assert_mentions_everything(const char *text)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		assert_non_null(strstr(text, manifest_probes[i].name));
	for (unsigned i = 0; i < STRUCT_COUNT; i++)
		for (size_t j = 0; j < manifest_structs[i].field_count; j++)
			assert_non_null(strstr(text, manifest_structs[i].fields[j].name));
}

static void
json_list_is_json_and_whole(void **state)
{
	static const char start[] = "{\"provider\":\"netobs\",\"abi\":1,\"probes\":[{\"name\":\"gld-send\",";
	static const char args[] = "\"args\":[\"pktinfo_t *\",null,\"ipinfo_t *\",\"illinfo_t *\",\"etherinfo_t *\"],"
				   "\"nullable\":[false,true,true,false,false],";
	static const char field[] = "{\"name\":\"tcp_dport\",\"type\":\"uint16_t\",\"offset\":2,\"size\":2,"
				    "\"doc\":\"destination port\"}";
	size_t length, where;
	char *text = listed(PRINT_JSON, &length);

	(void)state;
	assert_int_equal(text[length - 1], '\n');
	assert_true(json_check(text, length - 1, &where));
	assert_memory_equal(text, start, sizeof start - 1);
	assert_non_null(strstr(text, args));
	assert_non_null(strstr(text, field));
	assert_mentions_everything(text);
	free(text);
}

static void
text_list_is_whole(void **state)
{
	size_t length;
	char *text = listed(PRINT_TEXT, &length);

	(void)state;
	assert_mentions_everything(text);
	assert_non_null(strstr(text, "\n    args[1] NULL\n"));
	free(text);
}

static void
a_full_device_is_reported(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (full == NULL)
		return; /* this system has no /dev/full */
	assert_int_not_equal(probe_list_write(fileno(full), PRINT_JSON), 0);
	fclose(full);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_found_in_both_spellings),
	    cmocka_unit_test(arguments_are_as_declared),
	    cmocka_unit_test(structs_and_fields_are_found),
	    cmocka_unit_test(numbers_have_units),
	    cmocka_unit_test(texts_of_addresses_are_known),
	    cmocka_unit_test(identities_are_hexadecimal),
	    cmocka_unit_test(enums_have_words),
	    cmocka_unit_test(fields_are_aligned_and_do_not_overlap),
	    cmocka_unit_test(twins_have_one_layout),
	    cmocka_unit_test(lists_and_wildcards_choose),
	    cmocka_unit_test(unknown_words_are_shown),
	    cmocka_unit_test(json_list_is_json_and_whole),
	    cmocka_unit_test(text_list_is_whole),
	    cmocka_unit_test(a_full_device_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
