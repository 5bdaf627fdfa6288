/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_records.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/json.h"
#include "probes/netobs.h"

/* ----------------------------------------------------------------------------------------------- events at the ends */

struct report_end_trouble *
report_end_add_trouble(struct report_end_events *end, uint64_t cid)
{
	if (end->trouble == NULL)
		end->trouble = calloc(1, sizeof(*end->trouble));
	if (end->trouble != NULL && end->trouble->cid != cid)
		*end->trouble = (struct report_end_trouble){.cid = cid};
	return end->trouble;
}

struct report_request_event *
report_end_add_request(struct report_end_events *end)
{
	if (end->request == NULL)
		end->request = calloc(1, sizeof(*end->request));
	return end->request;
}

const struct report_end_trouble *
report_end_trouble(const struct report_end_events *end)
{
	static const struct report_end_trouble none;

	return end->trouble != NULL ? end->trouble : &none;
}

const struct report_request_event *
report_end_request(const struct report_end_events *end)
{
	static const struct report_request_event none;

	return end->request != NULL ? end->request : &none;
}

/* The first packet of a kind; 0 if there is none. */
static uint64_t
report_end_packet(const struct report_end_events *end, enum report_event event)
{
	return event == REPORT_OPENED ? end->opened_packet : report_end_trouble(end)->packets[event];
}

void
report_end_clear(struct report_end_events *end)
{
	free(end->request);
	free(end->trouble);
	*end = (struct report_end_events){0};
}

/* ------------------------------------------------------------------------------------------------------------ texts */

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Slots at first; twice as many whenever half of them are in use. */
#define SLOTS_FIRST 1024u

/* A text is shorter. */
#define BLOCK_BYTES 65536u

struct report_text_block {
	struct report_text_block *next;
	size_t used;
	char bytes[BLOCK_BYTES];
};

/* The slot of a text, or the free slot where it belongs. */
static const char **
report_texts_slot(const struct report_texts *texts, const char *text)
{
	size_t at = XXH3_64bits_withSeed(text, strlen(text), texts->seed) & (texts->size - 1);

	while (texts->slots[at] != NULL && strcmp(texts->slots[at], text) != 0)
		at = (at + 1) & (texts->size - 1);
	return &texts->slots[at];
}

static bool
report_texts_grow(struct report_texts *texts)
{
	struct report_texts larger = *texts;

	if (texts->size == 0 && getrandom(&larger.seed, sizeof(larger.seed), 0) != sizeof(larger.seed))
		return false;
	larger.size = texts->size == 0 ? SLOTS_FIRST : 2 * texts->size;
	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return false;
	for (size_t i = 0; i < texts->size; i++) {
		if (texts->slots[i] != NULL)
			*report_texts_slot(&larger, texts->slots[i]) = texts->slots[i];
	}
	free(texts->slots);
	*texts = larger;
	return true;
}

/* A copy at the end of the latest block, or in a new one. */
static const char *
report_texts_copy(struct report_texts *texts, const char *text)
{
	struct report_text_block *block = texts->blocks;
	size_t size = strlen(text) + 1;
	char *copy;

	if (block == NULL || size > BLOCK_BYTES - block->used) {
		block = malloc(sizeof(*block));
		if (block == NULL || size > BLOCK_BYTES) {
			free(block);
			return NULL;
		}
		block->next = texts->blocks;
		block->used = 0;
		texts->blocks = block;
	}
	copy = memcpy(block->bytes + block->used, text, size);
	block->used += size;
	return copy;
}

const char *
report_texts_keep(struct report_texts *texts, const char *text)
{
	const char **slot;

	if (2 * texts->count >= texts->size && !report_texts_grow(texts))
		return NULL;
	slot = report_texts_slot(texts, text);
	if (*slot == NULL) {
		*slot = report_texts_copy(texts, text);
		texts->count += *slot != NULL;
	}
	return *slot;
}

void
report_texts_free(struct report_texts *texts)
{
	struct report_text_block *next;

	for (struct report_text_block *block = texts->blocks; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	free(texts->slots);
}

/* ---------------------------------------------------------------------------------------------------------- records */

/* Ends a text that is cut. */
#define ELLIPSIS "\xe2\x80\xa6"

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

/* Bytes of the character or escape at the beginning of a JSON string; cut at `end`. */
static size_t
report_character_length(const char *at, const char *end)
{
	size_t length = 1;

	if (*at == '\\')
		length = end - at > 1 && at[1] == 'u' ? 6 : 2;
	while (at + length < end && ((unsigned char)at[length] & 0xc0) == 0x80)
		length++;
	return (size_t)(end - at) < length ? (size_t)(end - at) : length;
}

/* Makes JSON of a name.  A longer one is cut after a complete character or escape, and ends with an ellipsis. */
static void
report_record_name(const char *name, size_t size, char json[REPORT_NAME_SIZE])
{
	char text[sizeof(((struct connrec *)0)->cr_name) * JSON_BYTE_MAX + 8];
	const char *end = put_json_text(text, name, size);
	size_t used = 0;

	if ((size_t)(end - text) < REPORT_NAME_SIZE) {
		used = (size_t)(end - text);
		memcpy(json, text, used);
	} else {
		while (used + report_character_length(text + used, end) + sizeof(ELLIPSIS) <= REPORT_NAME_SIZE)
			used += report_character_length(text + used, end);
		memcpy(json, text, used);
		memcpy(json + used, ELLIPSIS, sizeof(ELLIPSIS) - 1);
		used += sizeof(ELLIPSIS) - 1;
	}
	json[used] = '\0';
}

/* Sets the ends, their roles, the protocol, the times and the name; false if out of memory. */
static bool
report_record_identity(struct report_record *record, const struct connrec *c, struct report_texts *texts)
{
	struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];
	char name[REPORT_NAME_SIZE];

	report_record_name(c->cr_name, sizeof(c->cr_name), name);
	client->address = report_texts_keep(texts, c->cr_client);
	server->address = report_texts_keep(texts, c->cr_server);
	record->name = report_texts_keep(texts, name);
	client->port = c->cr_client_port;
	server->port = c->cr_server_port;
	client->cid = c->cr_client_cid;
	server->cid = c->cr_server_cid;
	record->opened = strcmp(c->cr_role, "seen") == 0;
	record->protocol = c->cr_protocol;
	record->start = c->cr_start;
	record->end = c->cr_end;
	record->duration_us = c->cr_duration_us;
	return client->address != NULL && server->address != NULL && record->name != NULL;
}

static void
report_record_counts(struct report_record *record, const struct connrec *c)
{
	struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];

	client->segments = c->cr_client_segments;
	client->bytes = c->cr_client_bytes;
	client->resent = c->cr_client_resent;
	client->zero_windows = c->cr_client_zero_windows;
	client->flags = c->cr_client_flags;
	server->segments = c->cr_server_segments;
	server->bytes = c->cr_server_bytes;
	server->resent = c->cr_server_resent;
	server->zero_windows = c->cr_server_zero_windows;
	server->flags = c->cr_server_flags;
	record->resent_fast = c->cr_resent_fast;
	record->resent_timeout = c->cr_resent_timeout;
	record->resent_probe = c->cr_resent_probe;
	record->resent_spurious = c->cr_resent_spurious;
	record->resent_syn = c->cr_resent_syn;
}

static void
report_record_timing(struct report_record *record, const struct connrec *c)
{
	record->zero_window_us = c->cr_zero_window_us;
	record->handshake_us = c->cr_handshake_us;
	record->rtt_mean_us = c->cr_rtt_mean_us;
	record->exchanges = c->cr_exchanges;
	record->answer_mean_us = c->cr_answer_mean_us;
	record->answer_max_us = c->cr_answer_max_us;
}

/* Sets how it ended, with the last state of the server, and the ICMP error that has ended the attempt. */
static void
report_record_end(struct report_record *record, const struct connrec *c)
{
	static const char *const others[] = {"", "listen", "syn-received", "syn-sent", "closed"};
	struct report_rejection *rejection = &record->rejection;
	bool ipv6 = strchr(c->cr_icmp_sender, ':') != NULL;

	record->reason = report_reason_parse(c->cr_reason);
	record->accepted = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		record->accepted &= strcmp(c->cr_server_state, others[i]) != 0;
	rejection->type = (uint8_t)c->cr_icmp_type;
	rejection->code = (uint8_t)c->cr_icmp_code;
	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, c->cr_icmp_sender, rejection->sender) == 1)
		rejection->version = ipv6 ? 6 : 4;
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

struct report_record *
report_records_add(struct report_records *records, const struct connrec *connection)
{
	struct report_record *record;
	void *list = records->list;

	if (records->count == records->most) {
		records->left_out++;
		return NULL;
	}
	if (!array_reserve_one(&list, records->count, &records->capacity, sizeof(*record)))
		return NULL;
	records->list = list;
	record = &records->list[records->count];
	memset(record, 0, sizeof(*record));
	record->detail = -1;
	if (!report_record_identity(record, connection, &records->texts))
		return NULL;
	record->uid = records->count++;
	report_record_counts(record, connection);
	report_record_timing(record, connection);
	report_record_end(record, connection);
	record->score = report_record_score(record);
	return record;
}

void
report_records_free(struct report_records *records)
{
	for (size_t i = 0; i < records->count; i++) {
		report_end_clear(&records->list[i].ends[REPORT_CLIENT].events);
		report_end_clear(&records->list[i].ends[REPORT_SERVER].events);
	}
	free(records->list);
	report_texts_free(&records->texts);
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

static uint64_t
report_earlier(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

uint64_t
report_record_event(const struct report_record *record, enum report_event event)
{
	if (event == REPORT_EVENTS)
		return 0;
	return report_earlier(report_end_packet(&record->ends[REPORT_CLIENT].events, event),
			      report_end_packet(&record->ends[REPORT_SERVER].events, event));
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
