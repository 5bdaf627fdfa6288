/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_page.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "page/page.h"
#include "tools/report/report_capture.h"
#include "tools/report/report_records.h"
#include "tools/report/report_verdict.h"

/* TCP connections of an interval by state, and how those that end in it end. */
struct report_states {
	int64_t opening[REPORT_BINS + 1], open[REPORT_BINS + 1];
	uint64_t closed[REPORT_BINS], failed[REPORT_BINS];
};

/* Most addresses that are found. */
#define REPORT_TALKERS 10u

/* An address, with its bytes and connections of all records. */
struct report_talker {
	const char *address; /* of a record */
	uint64_t sent, received, connections;
};

/* ----------------------------------------------------------------------------------------------------- the overview */

/* A connection counts in each interval from that of `from` to that of `to`. */
static void
report_states_span(int64_t *bins, size_t from, size_t to)
{
	bins[from]++;
	bins[to + 1]--;
}

static void
report_states_add(const struct report_capture *capture, const struct report_record *record,
		  struct report_states *states)
{
	const struct report_volume *volume = &capture->volume;
	size_t start = report_volume_bin(volume, record->start), end = report_volume_bin(volume, record->end);
	size_t open = start;

	if (end < start)
		end = start;
	if ((record->reason >= REPORT_REFUSED && record->reason <= REPORT_NO_ANSWER) ||
	    report_record_is_attempt(record)) {
		report_states_span(states->opening, start, end);
	} else {
		if (record->handshake_us > 0)
			open = report_volume_bin(volume, record->start + (uint64_t)record->handshake_us * 1000);
		if (open > start)
			report_states_span(states->opening, start, open - 1);
		if (open <= end)
			report_states_span(states->open, open, end);
	}
	if (record->reason == REPORT_FIN)
		states->closed[end]++;
	else if (record->reason <= REPORT_NO_ANSWER)
		states->failed[end]++;
}

static void
report_overview_states(const struct report_capture *capture, struct report_states *states)
{
	memset(states, 0, sizeof(*states));
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].protocol == IPPROTO_TCP)
			report_states_add(capture, &capture->records.list[i], states);
	}
	for (size_t i = 1; i < REPORT_BINS; i++) {
		states->opening[i] += states->opening[i - 1];
		states->open[i] += states->open[i - 1];
	}
}

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Slots at first; twice as many whenever half of them are in use. */
#define TALKER_SLOTS_FIRST 1024u

/* Addresses by their text: a slot without an address is free.  The hash has a secret seed, so a capture cannot choose
 * addresses whose probe sequences are long. */
struct talker_table {
	struct report_talker *slots;
	size_t size, used; /* size is a power of two */
	uint64_t seed;
};

/* The slot of an address, or the free one where it belongs. */
static struct report_talker *
talker_table_slot(const struct talker_table *table, const char *address)
{
	size_t at = XXH3_64bits_withSeed(address, strlen(address), table->seed) & (table->size - 1);

	while (table->slots[at].address != NULL && strcmp(table->slots[at].address, address) != 0)
		at = (at + 1) & (table->size - 1);
	return &table->slots[at];
}

/* Moves the addresses to a table with `size` slots; false if out of memory. */
static bool
talker_table_resize(struct talker_table *table, size_t size)
{
	struct talker_table larger = {.size = size, .used = table->used, .seed = table->seed};

	larger.slots = calloc(size, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return false;
	for (size_t i = 0; i < table->size; i++) {
		if (table->slots[i].address != NULL)
			*talker_table_slot(&larger, table->slots[i].address) = table->slots[i];
	}
	free(table->slots);
	*table = larger;
	return true;
}

/* Adds the bytes of an end to its address, and a number of connections; false if out of memory. */
static bool
talker_table_add(struct talker_table *table, const struct report_end *end, const struct report_end *peer,
		 unsigned connections)
{
	struct report_talker *talker;

	if (2 * table->used >= table->size && !talker_table_resize(table, 2 * table->size))
		return false;
	talker = talker_table_slot(table, end->address);
	if (talker->address == NULL) {
		talker->address = end->address;
		table->used++;
	}
	talker->sent += end->bytes;
	talker->received += peer->bytes;
	talker->connections += connections;
	return true;
}

static bool
talker_table_fill(struct talker_table *table, const struct report_records *records)
{
	if (!talker_table_resize(table, TALKER_SLOTS_FIRST))
		return false;
	for (size_t i = 0; i < records->count; i++) {
		const struct report_end *ends = records->list[i].ends;
		bool other = strcmp(ends[REPORT_CLIENT].address, ends[REPORT_SERVER].address) != 0;

		/* A connection of an address with itself counts once. */
		if (!talker_table_add(table, &ends[REPORT_CLIENT], &ends[REPORT_SERVER], 1) ||
		    !talker_table_add(table, &ends[REPORT_SERVER], &ends[REPORT_CLIENT], other))
			return false;
	}
	return true;
}

static bool
talker_is_before(const struct report_talker *a, const struct report_talker *b)
{
	uint64_t a_bytes = a->sent + a->received, b_bytes = b->sent + b->received;

	return a_bytes != b_bytes ? a_bytes > b_bytes : strcmp(a->address, b->address) < 0;
}

/* Inserts a talker into a sorted list of at most REPORT_TALKERS; returns the new length. */
static size_t
talker_insert(struct report_talker *list, size_t count, const struct report_talker *talker)
{
	size_t place = count;

	while (place > 0 && talker_is_before(talker, &list[place - 1]))
		place--;
	if (place == REPORT_TALKERS)
		return count;
	if (count < REPORT_TALKERS)
		count++;
	memmove(&list[place + 1], &list[place], (count - 1 - place) * sizeof(*list));
	list[place] = *talker;
	return count;
}

/* Finds the addresses with most bytes, most first, then by address; returns their number.  `all` is false if out of
 * memory. */
static size_t
report_talkers_find(const struct report_records *records, struct report_talker talkers[REPORT_TALKERS], bool *all)
{
	struct talker_table table = {0};
	size_t count = 0;

	*all = getrandom(&table.seed, sizeof(table.seed), 0) == sizeof(table.seed) &&
	       talker_table_fill(&table, records);
	for (size_t i = 0; *all && i < table.size; i++) {
		if (table.slots[i].address != NULL)
			count = talker_insert(talkers, count, &table.slots[i]);
	}
	free(table.slots);
	return count;
}

/* --------------------------------------------------------------------------------------------------------- the page */

/* Writes a text that is JSON already, as a string; `<`, `>` and `&` mean nothing to HTML as escapes. */
static void
report_put_json(FILE *file, const char *text)
{
	putc('"', file);
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '<' || *at == '>' || *at == '&')
			fprintf(file, "\\u%04x", (unsigned)*at);
		else
			putc(*at, file);
	}
	putc('"', file);
}

/* Writes a file name or a filter as a string, each byte as the character of its number: the script decodes UTF-8. */
static void
report_put_text(FILE *file, const char *text)
{
	putc('"', file);
	for (const char *at = text; *at != '\0'; at++) {
		unsigned char byte = (unsigned char)*at;

		if (byte < 0x20 || byte >= 0x7f || strchr("\"\\<>&", byte) != NULL)
			fprintf(file, "\\u%04x", byte);
		else
			putc(byte, file);
	}
	putc('"', file);
}

/* Microseconds since the first frame. */
static long long
report_since(const struct report_capture *capture, uint64_t time)
{
	return (long long)(time - capture->volume.first) / 1000;
}

static void
report_put_volume(FILE *file, const struct report_volume *volume)
{
	static const char *const names[REPORT_PROTOCOLS] = {"TCP", "UDP", "ICMP", "SCTP", "other IP", "not IP"};
	size_t bins = volume->frames > 0 ? report_volume_bin(volume, volume->last) + 1 : 0;
	const char *comma = "";

	fprintf(file, ",\"width\":%" PRIu64 ",\"bins\":%zu,\"volume\":[", volume->width, bins);
	for (size_t p = 0; p < REPORT_PROTOCOLS; p++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < bins; i++)
			sum += volume->bins[i].frames[p];
		if (sum == 0)
			continue;
		fprintf(file, "%s\n{\"name\":\"%s\",\"frames\":[", comma, names[p]);
		for (size_t i = 0; i < bins; i++)
			fprintf(file, "%s%" PRIu64, i > 0 ? "," : "", volume->bins[i].frames[p]);
		fputs("],\"bytes\":[", file);
		for (size_t i = 0; i < bins; i++)
			fprintf(file, "%s%" PRIu64, i > 0 ? "," : "", volume->bins[i].bytes[p]);
		fputs("]}", file);
		comma = ",";
	}
	fputs("]", file);
}

static void
report_put_series(FILE *file, const char *name, const int64_t *values, size_t count)
{
	fprintf(file, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s%lld", i > 0 ? "," : "", (long long)values[i]);
	fputs("]", file);
}

static bool
report_put_overview(FILE *file, const struct report_capture *capture)
{
	struct report_talker talkers[REPORT_TALKERS];
	struct report_states *states = malloc(sizeof(*states));
	size_t bins = capture->volume.frames > 0 ? report_volume_bin(&capture->volume, capture->volume.last) + 1 : 0;
	size_t count;
	bool all;

	if (states == NULL)
		return false;
	report_overview_states(capture, states);
	fputs(",\"states\":{", file);
	report_put_series(file, "opening", states->opening, bins);
	putc(',', file);
	report_put_series(file, "open", states->open, bins);
	putc(',', file);
	report_put_series(file, "closed", (const int64_t *)states->closed, bins);
	putc(',', file);
	report_put_series(file, "failed", (const int64_t *)states->failed, bins);
	free(states);
	count = report_talkers_find(&capture->records, talkers, &all);
	fputs("},\"talkers\":[", file);
	for (size_t i = 0; i < count; i++) {
		fprintf(file, "%s\n[", i > 0 ? "," : "");
		report_put_json(file, talkers[i].address);
		fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", talkers[i].sent, talkers[i].received,
			talkers[i].connections);
	}
	fputs("]", file);
	return all;
}

static void
report_put_verdict(FILE *file, const struct report_capture *capture)
{
	struct report_sentence sentences[REPORT_SENTENCES];
	const char *comma = "";

	report_verdict_make(sentences, capture);
	fputs(",\"verdict\":[", file);
	for (size_t i = 0; i < REPORT_SENTENCES; i++) {
		const struct report_sentence *sentence = &sentences[i];

		if (sentence->text[0] == '\0')
			continue;
		fprintf(file, "%s\n{\"topic\":\"%s\",\"weight\":%" PRIu64 ",\"text\":", comma, sentence->topic,
			sentence->weight);
		comma = ",";
		report_put_json(file, sentence->text);
		fputs(",\"evidence\":[", file);
		for (size_t e = 0; e < sentence->evidence_count; e++)
			fprintf(file, "%s[%zu,%" PRIu64 ",\"%s\"]", e > 0 ? "," : "", sentence->evidence[e].record,
				sentence->evidence[e].frame, sentence->evidence[e].text);
		fputs("]}", file);
	}
	fputs("]", file);
}

/* The columns of a row, in the order in which the script names them. */
static void
report_put_row(FILE *file, const struct report_capture *capture, const struct report_record *record)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];

	fprintf(file, "[%lld,%" PRIu64 ",%u,", report_since(capture, record->start), record->duration_us,
		record->protocol);
	report_put_json(file, client->address);
	fprintf(file, ",%u,", client->port);
	report_put_json(file, server->address);
	fprintf(file, ",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, server->port,
		client->bytes, server->bytes, client->resent, server->resent, client->zero_windows,
		server->zero_windows);
	fprintf(file, ",%lld,%lld,%lld,%lld,\"%s\",", (long long)record->handshake_us,
		(long long)record->answer_mean_us, (long long)record->answer_max_us, (long long)record->rtt_mean_us,
		report_reason_name(record->reason));
	report_put_json(file, record->name);
	fprintf(file, ",%d,%" PRIu64 ",%d]", record->detail, client->segments + server->segments, record->opened);
}

static void
report_put_rows(FILE *file, const struct report_capture *capture)
{
	size_t rows = capture->records.count < REPORT_ROWS ? capture->records.count : REPORT_ROWS;

	fprintf(file, ",\"connections\":%zu,\"rows\":[", capture->records.count);
	for (size_t i = 0; i < rows; i++) {
		fputs(i > 0 ? ",\n" : "\n", file);
		report_put_row(file, capture, &capture->records.list[i]);
	}
	fputs("]", file);
}

static void
report_put_segments(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		    uint16_t number)
{
	const char *comma = "";

	fputs("{\"segments\":[", file);
	for (size_t i = 0; i < detail->segments_count; i++) {
		const struct report_segment *s = &detail->segments[i];

		if (s->detail != number)
			continue;
		fprintf(file, "%s[%lld,%" PRIu64 ",%u,%u,%u,%u,%u,%u,%u,%u]", comma, report_since(capture, s->time),
			s->packet, s->end, s->flags, s->sequence, s->length,
			s->acknowledgement, s->window, s->kind, s->sacked);
		comma = ",";
	}
	fputs("],\"changes\":[", file);
	comma = "";
	for (size_t i = 0; i < detail->changes_count; i++) {
		const struct report_change *c = &detail->changes[i];

		if (c->detail != number)
			continue;
		fprintf(file, "%s[%lld,%u,%u,%u]", comma, report_since(capture, c->time), c->end, c->before, c->after);
		comma = ",";
	}
	fputs("]}", file);
}

static int
report_segment_compare(const void *a, const void *b)
{
	const struct report_segment *x = a, *y = b;

	if (x->detail != y->detail)
		return x->detail < y->detail ? -1 : 1;
	return x->packet < y->packet ? -1 : x->packet > y->packet;
}

static void
report_put_details(FILE *file, const struct report_capture *capture, const struct report_detail *detail)
{
	if (detail->segments_count > 0)
		qsort(detail->segments, detail->segments_count, sizeof(*detail->segments), report_segment_compare);
	fprintf(file, ",\"endSegments\":%u,\"stateNames\":[", detail->end_segments);
	for (size_t i = 0; report_state_name(i) != NULL; i++) {
		fputs(i > 0 ? "," : "", file);
		report_put_json(file, report_state_name(i));
	}
	fputs("],\"details\":[", file);
	for (size_t i = 0; i < detail->count; i++) {
		fputs(i > 0 ? ",\n" : "\n", file);
		report_put_segments(file, capture, detail, (uint16_t)i);
	}
	fputs("]", file);
}

/* Why numbers of packets are not those of Wireshark: words that the script knows; none if they are. */
static void
report_put_numbering(FILE *file, const struct report_capture *capture, const struct report_input *input)
{
	const struct report_volume *volume = &capture->volume;
	const struct {
		const char *word;
		bool holds;
	} reasons[] = {
	    {"interface", input->interface},
	    {"files", input->files_count > 1},
	    {"filter", input->filter != NULL && !input->interface},
	    {"window", capture->read > volume->frames},
	    {"links", capture->unsupported > 0},
	};
	const char *comma = "";

	fputs(",\"numbering\":[", file);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!reasons[i].holds)
			continue;
		fprintf(file, "%s\"%s\"", comma, reasons[i].word);
		comma = ",";
	}
	fputs("]", file);
}

/* The block of data: JSON in which no character can end the element that contains it.  False if out of memory. */
static bool
report_put_data(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		const struct report_input *input)
{
	const struct report_volume *volume = &capture->volume;
	bool all;

	fputs("{\"files\":[", file);
	for (size_t i = 0; i < input->files_count; i++) {
		fputs(i > 0 ? "," : "", file);
		report_put_text(file, input->files[i]);
	}
	fputs("],\"filter\":", file);
	report_put_text(file, input->filter != NULL ? input->filter : "");
	report_put_numbering(file, capture, input);
	fprintf(file,
		",\"first\":\"%" PRIu64 "\",\"duration\":%lld,\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"stray\":%" PRIu64,
		volume->first, report_since(capture, volume->last), volume->frames, volume->bytes, volume->stray);
	report_put_verdict(file, capture);
	report_put_volume(file, volume);
	all = report_put_overview(file, capture);
	report_put_rows(file, capture);
	report_put_details(file, capture, detail);
	fputs("}", file);
	return all;
}

bool
report_page_write(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		  const struct report_input *input)
{
	struct page page;
	bool all = true;

	page_make(&page, false);
	for (unsigned i = 0; i < PAGE_PARTS; i++) {
		if (i == PAGE_DATA)
			all = report_put_data(file, capture, detail, input);
		fwrite(page.parts[i].bytes, 1, page.parts[i].length, file);
	}
	return all && fflush(file) == 0 && !ferror(file);
}
