/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_fields.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probes/nearest.h"
#include "records/record_waits.h"

/* Bytes of "cr_", with which every field's name begins. */
#define PREFIX_LENGTH 3

/* ------------------------------------------------------------------------------------------ the fields of a row */

#define LIVE(name, type, field_kind, field_unit, member, doc)                                                         \
	{                                                                                                              \
		"cr_" name, type, doc, offsetof(struct connrow, live.member), \
		    sizeof((struct connrow *)0)->live.member, field_kind, field_unit, false, false, NULL            \
	}

/* What a row has besides the record and the numbers of both ends.  Of a connection that has ended, what is live is 0,
 * or "", and `cid` is the client's. */
static const struct field_info live_fields[] = {
    LIVE("cid", "uint64_t", FIELD_UNSIGNED, UNIT_NONE, cid, "connection id of the local end, else the client's"),
    LIVE("age_us", "uint64_t", FIELD_UNSIGNED, UNIT_US, age_us, "time since the first packet, us"),
    LIVE("resent", "uint64_t", FIELD_UNSIGNED, UNIT_NONE, resent, "segments of both ends that were retransmissions"),
    LIVE("answer_us", "int64_t", FIELD_SIGNED, UNIT_US, answer_us, "server_us by exchanges; -1 without exchanges"),
    LIVE("lost_us", "uint64_t", FIELD_UNSIGNED, UNIT_US, lost_us, "client_lost_us and server_lost_us"),
    LIVE("waited", "char[8]", FIELD_TEXT, UNIT_NONE, waited, "what was waited for longest, in a word; \"-\" no time"),
    LIVE("out_bytes", "uint64_t", FIELD_UNSIGNED, UNIT_BYTES, out_bytes, "payload bytes that the end of rtt_us sent"),
    LIVE("in_bytes", "uint64_t", FIELD_UNSIGNED, UNIT_BYTES, in_bytes, "payload bytes that the end of rtt_us received"),
    LIVE("rtt_us", "uint32_t", FIELD_UNSIGNED, UNIT_US, rtt_us, "srtt_us of the local end; of the client if both are"),
    LIVE("pid", "int32_t", FIELD_SIGNED, UNIT_NONE, pid, "process that owns the client's end, else the server's; -1"),
    LIVE("local", "char[8]", FIELD_TEXT, UNIT_NONE, local, "ends on this host: client, server, both; \"\" neither"),
    LIVE("comm", "char[16]", FIELD_TEXT, UNIT_NONE, comm, "command name of cr_pid; \"\" unknown"),
    LIVE("client_owner", "char[16]", FIELD_TEXT, UNIT_NONE, owner[0], "what cr_client_pid is, or why it is unknown"),
    LIVE("server_owner", "char[16]", FIELD_TEXT, UNIT_NONE, owner[1], "what cr_server_pid is, or why it is unknown"),
};

#define LIVE_FIELDS (sizeof live_fields / sizeof live_fields[0])

/* Fields of tcpsinfo_t, all of 4 bytes: a row has each for both ends, as cr_client_rto and cr_server_rto. */
static const char *const live_names[CONNROW_NUMBERS] = {
    "srtt_us", "rtt_sd", "rto",	     "mss",  "swnd", "rwnd", "snd_ws",	  "rcv_ws",	 "cwnd",
    "cwnd_ssthresh", "kernel", "iss", "suna", "snxt", "rnxt", "rack", "sack_fack", "sack_snxt",
};

static struct field_info row_fields[RECORD_FIELDS_MAX];
static struct struct_info row_struct = {.name = "connrow", .size = sizeof(struct connrow), .fields = row_fields};
static size_t row_record_fields; /* the first ones are those of the record */
static const struct field_info *row_numbers[CONNROW_NUMBERS];

static void
record_row_add(const struct field_info *field)
{
	assert(row_struct.field_count < RECORD_FIELDS_MAX);
	row_fields[row_struct.field_count++] = *field;
}

static void
record_row_build(void)
{
	static char names[2][CONNROW_NUMBERS][32];
	const struct struct_info *record = &manifest_structs[STRUCT_CONNREC];

	for (row_record_fields = 0; row_record_fields < record->field_count; row_record_fields++)
		record_row_add(&record->fields[row_record_fields]);
	for (size_t i = 0; i < LIVE_FIELDS; i++)
		record_row_add(&live_fields[i]);
	for (size_t i = 0; i < 2 * CONNROW_NUMBERS; i++) {
		size_t end = i / CONNROW_NUMBERS, number = i % CONNROW_NUMBERS;
		struct field_info field;
		char name[32];

		snprintf(name, sizeof name, "tcps_%s", live_names[number]);
		row_numbers[number] = manifest_find_field(&manifest_structs[STRUCT_TCPSINFO], name);
		field = *row_numbers[number];
		assert(field.size == sizeof(uint32_t));
		snprintf(names[end][number], sizeof names[end][number], "cr_%s_%s", end == 0 ? "client" : "server",
			 live_names[number]);
		field.name = names[end][number];
		field.offset = offsetof(struct connrow, live.numbers[0][0]) + i * sizeof(uint32_t);
		record_row_add(&field);
	}
}

static const struct struct_info *
record_struct(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, record_row_build);
	return &row_struct;
}

const struct struct_info *
record_row_struct(void)
{
	return record_struct();
}

/* Sets what follows from the record. */
static void
connrow_derive(struct connrow *row)
{
	const struct connrec *record = &row->record;
	bool client = record->cr_client_pid >= 0 || record->cr_server_pid < 0;
	uint64_t waits[CONNREC_WAITS];

	record_waits_of(record, waits);
	row->live.resent = record->cr_client_resent + record->cr_server_resent;
	row->live.answer_us =
	    record->cr_exchanges != 0 ? (int64_t)(record->cr_server_us / record->cr_exchanges) : -1;
	row->live.lost_us = record->cr_client_lost_us + record->cr_server_lost_us;
	snprintf(row->live.waited, sizeof row->live.waited, "%s", record_waits_longest(waits));
	row->live.pid = client ? record->cr_client_pid : record->cr_server_pid;
	memcpy(row->live.comm, client ? record->cr_client_comm : record->cr_server_comm, sizeof row->live.comm);
}

void
connrow_set_ended(struct connrow *row)
{
	memset(&row->live, 0, sizeof row->live);
	row->live.cid = row->record.cr_client_cid;
	connrow_derive(row);
}

void
connrow_set_open(struct connrow *row, const struct tcpsinfo *ends)
{
	bool server = strcmp(row->live.local, "server") == 0;

	(void)record_struct();
	memset(row->live.numbers, 0, sizeof row->live.numbers);
	for (size_t i = 0; ends != NULL && i < CONNROW_NUMBERS; i++)
		for (size_t end = 0; end < 2; end++)
			memcpy(&row->live.numbers[end][i], (const char *)&ends[end] + row_numbers[i]->offset,
			       sizeof(uint32_t));
	row->live.cid = server ? row->record.cr_server_cid : row->record.cr_client_cid;
	row->live.out_bytes = server ? row->record.cr_server_bytes : row->record.cr_client_bytes;
	row->live.in_bytes = server ? row->record.cr_client_bytes : row->record.cr_server_bytes;
	row->live.rtt_us = ends != NULL ? ends[server].tcps_srtt_us : 0;
	connrow_derive(row);
}

/* ---------------------------------------------------------------------------------------------------------- names */

const char *
record_field_short_name(const struct field_info *field)
{
	return field->name + PREFIX_LENGTH;
}

static bool
record_field_has_name(const struct field_info *field, const char *name, size_t length)
{
	const char *brief = record_field_short_name(field);

	return (strlen(field->name) == length && memcmp(field->name, name, length) == 0) ||
	       (strlen(brief) == length && memcmp(brief, name, length) == 0);
}

/* Titles of the table's columns that differ from the names of their fields; in small letters. */
static const struct {
	const char *title, *field;
} record_titles[] = {
    {"time", "duration_us"},  {"prot", "protostr"},	    {"sent", "client_bytes"}, {"recvd", "server_bytes"},
    {"rtt", "rtt_us"},	      {"answer", "answer_us"},  {"lost", "lost_us"},  {"age", "age_us"},
    {"state", "client_state"}, {"process", "comm"},
};

/* The field of which the name is the title of a column, in capital or small letters; NULL: of no field. */
static const char *
record_fields_find_title(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof record_titles / sizeof record_titles[0]; i++)
		if (strlen(record_titles[i].title) == length && strncasecmp(record_titles[i].title, name, length) == 0)
			return record_titles[i].field;
	for (size_t i = 0; i < record_struct()->field_count; i++) {
		const char *brief = record_field_short_name(&record_struct()->fields[i]);

		if (strlen(brief) == length && strncasecmp(brief, name, length) == 0)
			return brief;
	}
	return NULL;
}

static void
record_fields_explain(const char *name, size_t length, char error[RECORD_ERROR_MAX])
{
	struct nearest nearest;
	char hint[NEAREST_HINT_MAX];

	nearest_begin(&nearest, name, length);
	for (size_t i = 0; i < record_struct()->field_count; i++) {
		nearest_consider(&nearest, record_field_short_name(&record_struct()->fields[i]));
		nearest_consider(&nearest, record_struct()->fields[i].name);
	}
	if (record_fields_find_title(name, length) != NULL)
		nearest.found = record_fields_find_title(name, length);
	if (length == 0)
		snprintf(error, RECORD_ERROR_MAX, "the name of a field is missing");
	else
		snprintf(error, RECORD_ERROR_MAX,
			 "connections have no field %.*s%s; netobsctl(8) and netobsd --list-probes list them",
			 length < NEAREST_WORD_MAX ? (int)length : NEAREST_WORD_MAX, name,
			 nearest_hint(&nearest, "", hint));
}

const struct field_info *
record_fields_find(const char *name, size_t length, char error[RECORD_ERROR_MAX])
{
	for (size_t i = 0; i < record_struct()->field_count; i++)
		if (record_field_has_name(&record_struct()->fields[i], name, length))
			return &record_struct()->fields[i];
	record_fields_explain(name, length, error);
	return NULL;
}

bool
record_fields_parse(const char *list, struct record_fields *to, char error[RECORD_ERROR_MAX])
{
	to->count = 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		const struct field_info *field = record_fields_find(list, length, error);

		if (field == NULL)
			return false;
		for (unsigned i = 0; i < to->count; i++)
			if (to->fields[i] == field) {
				snprintf(error, RECORD_ERROR_MAX, "%s is chosen twice", field->name);
				return false;
			}
		assert(to->count < RECORD_FIELDS_MAX); /* there are not so many */
		to->fields[to->count++] = field;
		if (list[length] == '\0')
			return true;
		list += length + 1;
	}
}

/* Whether the value of a field differs from run to run. */
static bool
record_field_is_of_run(const struct field_info *field)
{
	static const char *const of_run[] = {"cr_client_cid", "cr_server_cid", "cr_seq"};

	for (size_t i = 0; i < sizeof of_run / sizeof of_run[0]; i++)
		if (strcmp(field->name, of_run[i]) == 0)
			return true;
	return false;
}

/* What follows from the record too, connrow_derive(), and the connection id. */
static bool
record_field_is_open_only(const struct field_info *field)
{
	static const char *const others[] = {"cr_cid", "cr_resent", "cr_answer_us", "cr_lost_us",
					     "cr_waited", "cr_pid", "cr_comm"};

	if (field < row_fields + row_record_fields || field >= row_fields + row_struct.field_count)
		return false;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(field->name, others[i]) == 0)
			return false;
	return true;
}

const char *
record_fields_find_open(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
	char error[RECORD_ERROR_MAX];
	bool quoted = false;

	while (text != NULL && *text != '\0') {
		size_t length = quoted ? 0 : strspn(text, letters);
		const struct field_info *field = length > 0 ? record_fields_find(text, length, error) : NULL;

		if (field != NULL && record_field_is_open_only(field))
			return field->name + PREFIX_LENGTH;
		if (quoted && *text == '\\' && text[1] != '\0')
			length = 2;
		quoted ^= *text == '"';
		text += length > 0 ? length : 1;
	}
	return NULL;
}

void
record_fields_set_all(struct record_fields *to, bool open)
{
	const struct struct_info *row = record_struct();

	to->count = 0;
	for (size_t i = 0; i < (open ? row->field_count : row_record_fields); i++)
		if (open || !record_field_is_of_run(&row->fields[i]))
			to->fields[to->count++] = &row->fields[i];
}

bool
record_field_is_time(const struct field_info *field)
{
	return field->unit == UNIT_NS;
}

bool
record_field_is_counter(const struct field_info *field)
{
	static const char *const counters[] = {"_segments", "_bytes", "_wire", "_resent", "_out_of_order",
					       "_zero_windows", "rtt_samples", "exchanges", "anomalies"};

	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
		size_t length = strlen(field->name), end = strlen(counters[i]);

		if (length > end && strcmp(field->name + length - end, counters[i]) == 0)
			return true;
	}
	return strncmp(field->name, "cr_resent_", sizeof "cr_resent_" - 1) == 0;
}

bool
record_order_parse(const char *text, struct record_order *to, char error[RECORD_ERROR_MAX])
{
	bool reversed = *text == '-';

	text += reversed;
	to->field = record_fields_find(text, strlen(text), error);
	if (to->field == NULL)
		return false;
	to->descending = (to->field->kind != FIELD_TEXT && !record_field_is_time(to->field)) != reversed;
	return true;
}

uint64_t
record_field_number(const struct field_info *field, const void *record)
{
	const char *from = (const char *)record + field->offset;
	bool is_signed = field->kind == FIELD_SIGNED;

/* Reads a value of a struct at any type. */
#define READ_AS(type) (*(const type *)(const void *)from)
	switch (field->size) {
	case 1:
		return is_signed ? (uint64_t)READ_AS(int8_t) : READ_AS(uint8_t);
	case 2:
		return READ_AS(uint16_t);
	case 4:
		return is_signed ? (uint64_t)READ_AS(int32_t) : READ_AS(uint32_t);
	default:
		return READ_AS(uint64_t);
	}
#undef READ_AS
}

uint64_t
record_field_rank(const struct field_info *field, const void *record)
{
	return record_field_number(field, record) ^ (field->kind == FIELD_SIGNED ? UINT64_C(1) << 63 : 0);
}

void
record_field_set_number(const struct field_info *field, void *record, uint64_t number)
{
	char *to = (char *)record + field->offset;
	uint32_t four = (uint32_t)number;
	uint16_t two = (uint16_t)number;
	uint8_t one = (uint8_t)number;

	memcpy(to, field->size == 1 ? (void *)&one : field->size == 2 ? (void *)&two
						 : field->size == 4   ? (void *)&four
								      : (void *)&number,
	       field->size);
}
