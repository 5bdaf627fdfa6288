/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of all connections of a capture. */
#ifndef NETOBS_REPORT_RECORDS_H
#define NETOBS_REPORT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_lines.h"

/* Ends of a connection. */
enum { REPORT_CLIENT, REPORT_SERVER, REPORT_ENDS };

enum report_reason {
	REPORT_FIN,
	REPORT_RESET_CLIENT,
	REPORT_RESET_SERVER,
	REPORT_REFUSED,
	REPORT_NO_ANSWER,
	REPORT_IDLE,
	REPORT_EVICTED,
	REPORT_CAPTURE_END,
	REPORT_REASONS
};

/* Bytes of a name in JSON, escapes and NUL included. */
#define REPORT_NAME_SIZE 128u

/* Flags of TCP, RFC 9293. */
#define REPORT_FLAG_FIN 0x01u
#define REPORT_FLAG_ACK 0x10u

/* An end of a connection, and the counts of its segments; texts are JSON. */
struct report_end {
	char address[46];
	uint16_t port;
	uint64_t cid;
	uint64_t segments, bytes, resent, zero_windows;
	uint8_t flags; /* of all its segments */
};

struct report_record {
	struct report_end ends[REPORT_ENDS];
	uint64_t uid; /* place in the output, so that the order is the same in every run */
	uint64_t start, end, duration_us;
	uint64_t resent_fast, resent_timeout, resent_probe, resent_spurious, resent_syn;
	uint64_t zero_window_us, exchanges;
	int64_t handshake_us, rtt_mean_us, answer_mean_us, answer_max_us;
	uint64_t score;
	int detail; /* number of its detail; -1 none */
	uint8_t protocol;
	bool opened; /* its opening is in the capture */
	enum report_reason reason;
	char name[REPORT_NAME_SIZE];
};

struct report_records {
	struct report_record *list;
	size_t count, capacity;
};

/* Adds the record of a line of connection-end; false if out of memory. */
bool report_records_add(struct report_records *records, struct report_line *line);

/*
 * Sorts the records, those with most trouble first, and gives the first `top` connections of TCP a number in `detail`.
 * How many have one.
 */
size_t report_records_rank(struct report_records *records, size_t top);

/* Whether the capture ends while a client of TCP waits for an answer to its first SYN. */
bool report_record_is_attempt(const struct report_record *record);

/* The word of a reason. */
const char *report_reason_name(enum report_reason reason);

#endif
