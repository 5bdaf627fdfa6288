/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that have ended, as a reply of the control socket: lines of the records in a ring, as a table or as JSON,
 * in parts.
 */
#ifndef NETOBS_DAEMON_RECORD_CLOSED_REPLY_H
#define NETOBS_DAEMON_RECORD_CLOSED_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "records/record_ring.h"

/* Most records that are sorted, which takes memory: about 15 MB. */
#define CLOSED_SORT_MAX 5000u

struct closed_reply;

struct closed_request {
	uint64_t last_ns;	/* only ends of this latest time; 0: all */
	const char *fields;	/* comma-separated; NULL: the columns of records, or all fields as JSON */
	const char *expression; /* of formulas, which selects records; NULL: all */
	const char *sort;	/* "FIELD" or "-FIELD" (records/record_fields.h); NULL: as in the ring */
	uint64_t limit; /* only the first ones; 0: all, or with `sort` CLOSED_SORT_MAX, which is the most then */
	bool json;
	bool notes;	 /* JSON ends with {"note":"TEXT"} for what is missing; a table always has that line */
	bool all_owners; /* the client may see the processes of all users, otherwise only those of `uid` */
	uid_t uid;
};

/* A reply of the records in `ring`, which is borrowed; the texts of the request are not needed afterwards.  NULL, with
 * `error`, if the request has a mistake or memory is short. */
struct closed_reply *closed_reply_new(struct record_ring *ring, const struct closed_request *request, char *error,
				      size_t size);

/* NULL is allowed. */
void closed_reply_free(struct closed_reply *reply);

/* Appends the next part of the lines, for which there is space for at least 64 KiB; false with the last part. */
bool closed_reply_write(struct closed_reply *reply, struct text_buffer *text);

#endif
