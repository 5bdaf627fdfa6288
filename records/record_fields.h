/* SPDX-License-Identifier: BSD-2-Clause */
/* The row of a connection, open or ended, and the names of its fields, as users choose them: with or without "cr_". */
#ifndef NETOBS_RECORDS_RECORD_FIELDS_H
#define NETOBS_RECORDS_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/manifest.h"
#include "probes/netobs.h"

/* Bytes of a message, including the NUL. */
#define RECORD_ERROR_MAX 256

/* Most fields that can be chosen at once. */
#define RECORD_FIELDS_MAX 160u

/* Numbers of tcpsinfo_t that a row has for both ends: live_names of record_fields.c. */
#define CONNROW_NUMBERS 18u

/*
 * What a row has besides the record: what is known only while the connection is open, and what follows from the record.
 * record_fields.c has the names, and documents them.
 */
struct connlive {
	uint64_t cid, age_us, resent, lost_us, out_bytes, in_bytes;
	int64_t answer_us;
	uint32_t rtt_us;
	int32_t pid;
	uint32_t numbers[2][CONNROW_NUMBERS]; /* of the client and the server; those of tcpsinfo_t */
	char local[8], waited[8], comm[16];
	char owner[2][16]; /* of the client and the server */
};

struct connrow {
	struct connrec record;
	struct connlive live;
};

/* The row of a connection that has ended, of which nothing is live; `row->record` is its record. */
void connrow_set_ended(struct connrow *row);

/* The row of an open connection, whose record and whose `local`, `age_us` and `owner` are filled.  `ends`: of the
 * client and the server; NULL unless the protocol is TCP. */
void connrow_set_open(struct connrow *row, const struct tcpsinfo *ends);

/* Fields in the order in which they are shown. */
struct record_fields {
	const struct field_info *fields[RECORD_FIELDS_MAX];
	unsigned count;
};

/* How records are sorted.  Records with equal values, and all of them without a field, are sorted by cr_end and
 * cr_uid. */
struct record_order {
	const struct field_info *field; /* NULL: cr_end */
	bool descending;
};

/* The fields of struct connrow. */
const struct struct_info *record_row_struct(void);

/* Finds a field by its name of `length` bytes.  NULL, with the reason and the nearest name in `error`, if there is
 * none. */
const struct field_info *record_fields_find(const char *name, size_t length, char error[RECORD_ERROR_MAX]);

/* Parses "client,server_port,cr_bytes".  False, with `error`, if a name is wrong. */
bool record_fields_parse(const char *list, struct record_fields *to, char error[RECORD_ERROR_MAX]);

/* Sets the fields of the record that are the same in every run: those except connection ids and the number of the
 * firing.  With `open` also connection ids and what is live. */
void record_fields_set_all(struct record_fields *to, bool open);

/* The first field in names of fields, or in an expression, that is known of open connections only, without cr_; NULL
 * if there is none. */
const char *record_fields_find_open(const char *text);

/* Parses "FIELD" or "-FIELD".  Text and times ascend, other numbers descend; "-" reverses that.  False, with `error`,
 * if the name is wrong. */
bool record_order_parse(const char *text, struct record_order *to, char error[RECORD_ERROR_MAX]);

/* Whether the field is a time since the epoch, ns. */
bool record_field_is_time(const struct field_info *field);

/* Whether the field counts from the beginning of the connection: its increase is a rate. */
bool record_field_is_counter(const struct field_info *field);

/* The value of a field that is not text, as a number with the order of its values, and setting it so. */
uint64_t record_field_rank(const struct field_info *field, const void *record);

/* The value of a field that is a number, at any type, in 64 bits. */
uint64_t record_field_number(const struct field_info *field, const void *record);
void record_field_set_number(const struct field_info *field, void *record, uint64_t number);

/* The name without "cr_". */
const char *record_field_short_name(const struct field_info *field);

#endif
