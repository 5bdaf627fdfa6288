/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_records.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static const char *const reason_names[REPORT_REASONS] = {
    [REPORT_FIN] = "fin",	  [REPORT_RESET_CLIENT] = "reset-by-client", [REPORT_RESET_SERVER] = "reset-by-server",
    [REPORT_REFUSED] = "refused", [REPORT_UNREACHED] = "unreachable",	     [REPORT_NO_ANSWER] = "no-answer",
    [REPORT_IDLE] = "idle",	  [REPORT_EVICTED] = "evicted",		     [REPORT_CAPTURE_END] = "capture-end",
};

const char *
report_reason_name(enum report_reason reason)
{
	return reason_names[reason];
}

static enum report_reason
report_reason_parse(const char *word)
{
	for (size_t i = 0; i < REPORT_REASONS; i++) {
		if (strcmp(word, reason_names[i]) == 0)
			return (enum report_reason)i;
	}
	return REPORT_CAPTURE_END;
}

static uint64_t
report_count(struct report_line *line, const char *name)
{
	return (uint64_t)report_line_number(line, name, 0);
}

/* Reads the counts of an end: "cr_client_segments" and so on. */
static void
report_end_counts(struct report_line *line, struct report_end *end, const char *const names[4])
{
	end->segments = report_count(line, names[0]);
	end->bytes = report_count(line, names[1]);
	end->resent = report_count(line, names[2]);
	end->zero_windows = report_count(line, names[3]);
}

/* Reads the ends, their roles, the protocol and the times. */
static void
report_record_identity(struct report_record *record, struct report_line *line)
{
	struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];
	char role[8];

	report_line_text(line, "cr_client", client->address, sizeof(client->address));
	report_line_text(line, "cr_server", server->address, sizeof(server->address));
	client->port = (uint16_t)report_count(line, "cr_client_port");
	server->port = (uint16_t)report_count(line, "cr_server_port");
	client->cid = report_count(line, "cr_client_cid");
	server->cid = report_count(line, "cr_server_cid");
	report_line_text(line, "cr_role", role, sizeof(role));
	record->opened = strcmp(role, "seen") == 0;
	record->protocol = (uint8_t)report_count(line, "cr_protocol");
	record->start = report_count(line, "cr_start");
	record->end = report_count(line, "cr_end");
	record->duration_us = report_count(line, "cr_duration_us");
}

/* Reads the fields after the counts of the ends, in the order of the line. */
static void
report_record_timing(struct report_record *record, struct report_line *line)
{
	char word[24];

	record->resent_fast = report_count(line, "cr_resent_fast");
	record->resent_timeout = report_count(line, "cr_resent_timeout");
	record->resent_probe = report_count(line, "cr_resent_probe");
	record->resent_spurious = report_count(line, "cr_resent_spurious");
	record->resent_syn = report_count(line, "cr_resent_syn");
	record->zero_window_us = report_count(line, "cr_zero_window_us");
	record->handshake_us = report_line_number(line, "cr_handshake_us", -1);
	record->rtt_mean_us = report_line_number(line, "cr_rtt_mean_us", -1);
	record->exchanges = report_count(line, "cr_exchanges");
	record->answer_mean_us = report_line_number(line, "cr_answer_mean_us", -1);
	record->answer_max_us = report_line_number(line, "cr_answer_max_us", -1);
	record->ends[REPORT_CLIENT].flags = (uint8_t)report_count(line, "cr_client_flags");
	record->ends[REPORT_SERVER].flags = (uint8_t)report_count(line, "cr_server_flags");
	report_line_text(line, "cr_reason", word, sizeof(word));
	record->reason = report_reason_parse(word);
	report_line_text(line, "cr_name", record->name, sizeof(record->name));
}

/* Reads the last state of the server. */
static void
report_record_state(struct report_record *record, struct report_line *line)
{
	static const char *const others[] = {"", "listen", "syn-received", "syn-sent", "closed"};
	char state[24];

	report_line_text(line, "cr_server_state", state, sizeof(state));
	record->accepted = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		record->accepted &= strcmp(state, others[i]) != 0;
}

/* Reads the ICMP error that has ended the attempt. */
static void
report_record_rejection(struct report_record *record, struct report_line *line)
{
	uint8_t type = (uint8_t)report_line_number(line, "cr_icmp_type", -1);
	uint8_t code = (uint8_t)report_line_number(line, "cr_icmp_code", -1);
	char sender[INET6_ADDRSTRLEN];

	report_line_text(line, "cr_icmp_sender", sender, sizeof(sender));
	report_rejection_set(&record->rejection, type, code, sender);
}

static uint64_t
report_at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* The trouble that a connection had. */
static uint64_t
report_record_score(const struct report_record *record)
{
	const struct report_end *ends = record->ends;
	uint64_t score = 0;

	if (record->reason >= REPORT_RESET_CLIENT && record->reason <= REPORT_NO_ANSWER)
		score += REPORT_SCORE_FAILED;
	score += report_at_most(10 * (ends[0].resent + ends[1].resent), 1000);
	score += report_at_most(20 * (ends[0].zero_windows + ends[1].zero_windows), 500);
	if (record->answer_max_us > 0)
		score += report_at_most((uint64_t)record->answer_max_us / 10000, 500);
	if (record->handshake_us > 0)
		score += report_at_most((uint64_t)record->handshake_us / 10000, 500);
	return score;
}

bool
report_records_add(struct report_records *records, struct report_line *line)
{
	static const char *const client[4] = {"cr_client_segments", "cr_client_bytes", "cr_client_resent",
					      "cr_client_zero_windows"};
	static const char *const server[4] = {"cr_server_segments", "cr_server_bytes", "cr_server_resent",
					      "cr_server_zero_windows"};
	struct report_record *record;

	if (records->count == records->capacity) {
		size_t capacity = records->capacity == 0 ? 1024 : 2 * records->capacity;
		struct report_record *list = reallocarray(records->list, capacity, sizeof(*list));

		if (list == NULL)
			return false;
		records->list = list;
		records->capacity = capacity;
	}
	record = &records->list[records->count];
	memset(record, 0, sizeof(*record));
	record->uid = records->count++;
	record->detail = -1;
	report_record_identity(record, line);
	report_end_counts(line, &record->ends[REPORT_CLIENT], client);
	report_end_counts(line, &record->ends[REPORT_SERVER], server);
	report_record_timing(record, line);
	report_record_rejection(record, line);
	report_record_state(record, line);
	record->score = report_record_score(record);
	return true;
}

bool
report_record_has_answers(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP || record->protocol == IPPROTO_UDP;
}

bool
report_record_answer_is_found(const struct report_record *record)
{
	return record->answers != NULL && record->answers[REPORT_ANSWER_WAITED].answer != 0 &&
	       record->answers[REPORT_ANSWER_WAITED].waited_us + 1 >= record->answer_max_us;
}

int64_t
report_record_server_us(const struct report_record *record)
{
	if (report_record_answer_is_found(record))
		return record->answers[REPORT_ANSWER_SERVER].server_us;
	return report_record_has_answers(record) && record->answer_max_us < REPORT_SLOW_ANSWER_US
		   ? record->answer_max_us
		   : 0;
}

bool
report_record_is_attempt(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP && record->reason == REPORT_CAPTURE_END && record->opened &&
	       record->ends[REPORT_SERVER].segments == 0 &&
	       record->ends[REPORT_CLIENT].segments == 1 + record->resent_syn;
}

bool
report_record_is_half_open(const struct report_record *record)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];

	return record->protocol == IPPROTO_TCP && record->opened && record->handshake_us < 0 && !record->accepted &&
	       server->bytes == 0 &&
	       (client->flags & (REPORT_FLAG_SYN | REPORT_FLAG_RST)) == REPORT_FLAG_SYN &&
	       (server->flags & (REPORT_FLAG_SYN | REPORT_FLAG_RST | REPORT_FLAG_FIN)) == REPORT_FLAG_SYN;
}

/* qsort(): most trouble first, then most bytes, then the order of the output. */
static int
report_record_compare(const void *a, const void *b)
{
	const struct report_record *x = a, *y = b;
	uint64_t x_bytes = x->ends[0].bytes + x->ends[1].bytes, y_bytes = y->ends[0].bytes + y->ends[1].bytes;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x_bytes != y_bytes)
		return x_bytes > y_bytes ? -1 : 1;
	return x->uid < y->uid ? -1 : x->uid > y->uid;
}

size_t
report_records_rank(struct report_records *records, size_t top)
{
	size_t details = 0;

	if (records->count > 0)
		qsort(records->list, records->count, sizeof(*records->list), report_record_compare);
	for (size_t i = 0; i < records->count && details < top; i++) {
		if (records->list[i].protocol == IPPROTO_TCP)
			records->list[i].detail = (int)details++;
	}
	return details;
}
