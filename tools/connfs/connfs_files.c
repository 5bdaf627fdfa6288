/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_files.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text_buffer.h"
#include "tools/connfs/connfs_list.h"

/* A text, "-" if there is none. */
static const char *
connfs_known(const union connection_value *value)
{
	return value->text[0] != '\0' ? value->text : "-";
}

static void
connfs_print_client(const union connection_value *values, struct text_buffer *text)
{
	const char *address = values[CONNFS_CLIENT].text;

	text_add_format(text, strchr(address, ':') != NULL ? "[%s]:%u\n" : "%s:%u\n", address,
			(unsigned)values[CONNFS_CLIENT_PORT].number);
}

static void
connfs_print_server(const union connection_value *values, struct text_buffer *text)
{
	connfs_print_client(values + (CONNFS_SERVER - CONNFS_CLIENT), text);
}

static void
connfs_print_state(const union connection_value *values, struct text_buffer *text)
{
	text_add_format(text, "%s %s\n", connfs_known(&values[CONNFS_CLIENT_STATE]),
			connfs_known(&values[CONNFS_SERVER_STATE]));
}

/* A number that is not 0 or negative; "-" is one that is unknown. */
static void
connfs_print_number(struct text_buffer *text, const char *before, uint64_t number, bool known)
{
	text_add_format(text, "%s", before);
	if (known)
		text_add_format(text, "%llu\n", (unsigned long long)number);
	else
		text_add_format(text, "-\n");
}

static void
connfs_print_rtt(const union connection_value *values, struct text_buffer *text)
{
	connfs_print_number(text, "", values[CONNFS_RTT].number, values[CONNFS_RTT].number != 0);
}

static void
connfs_print_bytes(const union connection_value *values, struct text_buffer *text)
{
	text_add_format(text, "client %llu\nserver %llu\n", (unsigned long long)values[CONNFS_CLIENT_BYTES].number,
			(unsigned long long)values[CONNFS_SERVER_BYTES].number);
}

static void
connfs_print_owner(const union connection_value *values, struct text_buffer *text)
{
	int64_t pid = (int64_t)values[CONNFS_PID].number;
	bool client = (int64_t)values[CONNFS_CLIENT_PID].number == pid;
	int64_t uid = (int64_t)values[client ? CONNFS_CLIENT_UID : CONNFS_SERVER_UID].number;

	connfs_print_number(text, "pid ", (uint64_t)pid, pid >= 0);
	text_add_format(text, "comm ");
	text_add_escaped(text, connfs_known(&values[CONNFS_COMM]));
	connfs_print_number(text, "\nuid ", (uint64_t)uid, uid >= 0);
}

/* A line for each field: its name and its value. */
static void
connfs_print_status(const union connection_value *values, struct text_buffer *text)
{
	char started[32] = "-";
	struct tm utc;

	for (unsigned i = 0; i < CONNFS_PID; i++) {
		const struct field_info *field = connfs_columns.fields.fields[i];
		time_t start = (time_t)(values[i].number / 1000000000);

		text_add_format(text, "%s ", record_field_short_name(field));
		if (i == CONNFS_START && gmtime_r(&start, &utc) != NULL)
			strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
		if (i == CONNFS_START)
			text_add_format(text, "%s\n", started);
		else if (field->kind == FIELD_TEXT)
			text_add_format(text, "%s\n", connfs_known(&values[i]));
		else
			connfs_print_number(text, "", values[i].number, i != CONNFS_RTT || values[i].number != 0);
	}
	connfs_print_owner(values, text);
}

static const struct {
	const char *name;
	void (*print)(const union connection_value *values, struct text_buffer *text); /* NULL: no text */
} connfs_files[CONNFS_FILES] = {
    {"status", connfs_print_status}, {"client", connfs_print_client},
    {"server", connfs_print_server}, {"state", connfs_print_state},
    {"rtt", connfs_print_rtt},	     {"bytes", connfs_print_bytes},
    {"owner", connfs_print_owner},   {"history", NULL},
    {"capture.pcapng", NULL},
};

const char *
connfs_file_name(unsigned file)
{
	return connfs_files[file].name;
}

bool
connfs_file_has_owner(unsigned file)
{
	return connfs_files[file].print == connfs_print_owner || connfs_files[file].print == connfs_print_status;
}

size_t
connfs_file_text(unsigned file, const union connection_value *values, char text[CONNFS_TEXT_MAX])
{
	struct text_buffer buffer = {.bytes = text, .size = CONNFS_TEXT_MAX};

	if (connfs_files[file].print != NULL)
		connfs_files[file].print(values, &buffer);
	return buffer.used;
}
