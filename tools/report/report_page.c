/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_page.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "page/page.h"
#include "records/service_lines.h"
#include "tools/report/report_capture.h"
#include "tools/report/report_findings.h"
#include "tools/report/report_records.h"

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

/* Microseconds since the first frame. */
static int64_t
report_since(const struct report_capture *capture, uint64_t time)
{
	return (int64_t)(time - capture->volume.first) / 1000;
}

static void
report_put_counts(struct json *json, const char *name, const struct report_volume *volume, size_t bins,
		  enum report_protocol protocol, bool bytes)
{
	json_begin_array(json, name);
	for (size_t i = 0; i < bins; i++)
		json_add_unsigned(json, NULL, (bytes ? volume->bins[i].bytes : volume->bins[i].frames)[protocol]);
	json_end_array(json);
}

static void
report_put_volume(struct json *json, const struct report_volume *volume)
{
	static const char *const names[REPORT_PROTOCOLS] = {"TCP", "UDP", "ICMP", "SCTP", "other IP", "not IP"};
	size_t bins = volume->frames > 0 ? report_volume_bin(volume, volume->last) + 1 : 0;

	json_add_unsigned(json, "width", volume->width);
	json_add_unsigned(json, "bins", bins);
	json_begin_array(json, "volume");
	for (size_t p = 0; p < REPORT_PROTOCOLS; p++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < bins; i++)
			sum += volume->bins[i].frames[p];
		if (sum == 0)
			continue;
		json_break_line(json);
		json_begin_object(json, NULL);
		json_add_string(json, "name", names[p]);
		report_put_counts(json, "frames", volume, bins, (enum report_protocol)p, false);
		report_put_counts(json, "bytes", volume, bins, (enum report_protocol)p, true);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
report_put_series(struct json *json, const char *name, const int64_t *values, size_t count)
{
	json_begin_array(json, name);
	for (size_t i = 0; i < count; i++)
		json_add_signed(json, NULL, values[i]);
	json_end_array(json);
}

static bool
report_put_states(struct json *json, const struct report_capture *capture)
{
	struct report_states *states = malloc(sizeof(*states));
	size_t bins = capture->volume.frames > 0 ? report_volume_bin(&capture->volume, capture->volume.last) + 1 : 0;

	if (states == NULL)
		return false;
	report_overview_states(capture, states);
	json_begin_object(json, "states");
	report_put_series(json, "opening", states->opening, bins);
	report_put_series(json, "open", states->open, bins);
	report_put_series(json, "closed", (const int64_t *)states->closed, bins);
	report_put_series(json, "failed", (const int64_t *)states->failed, bins);
	json_end_object(json);
	free(states);
	return true;
}

static bool
report_put_talkers(struct json *json, const struct report_capture *capture)
{
	struct report_talker talkers[REPORT_TALKERS];
	bool all;
	size_t count = report_talkers_find(&capture->records, talkers, &all);

	json_begin_array(json, "talkers");
	for (size_t i = 0; i < count; i++) {
		json_break_line(json);
		json_begin_array(json, NULL);
		json_add_escaped(json, NULL, talkers[i].address);
		json_add_unsigned(json, NULL, talkers[i].sent);
		json_add_unsigned(json, NULL, talkers[i].received);
		json_add_unsigned(json, NULL, talkers[i].connections);
		json_end_array(json);
	}
	json_end_array(json);
	return all;
}

static void
report_put_finding(struct json *json, const struct report_finding *finding)
{
	json_break_line(json);
	json_begin_object(json, NULL);
	json_add_string(json, "topic", finding->kind);
	json_add_unsigned(json, "weight", finding->harmless ? 0 : finding->cost_us);
	json_add_string(json, "side", finding->side);
	json_add_string(json, "text", finding->text);
	json_begin_array(json, "evidence");
	for (size_t e = 0; e < finding->evidence_count; e++) {
		json_begin_array(json, NULL);
		json_add_unsigned(json, NULL, finding->evidence[e].record);
		json_add_unsigned(json, NULL, finding->evidence[e].frame);
		json_add_string(json, NULL, finding->evidence[e].text);
		json_end_array(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void
report_put_verdict(struct json *json, const struct report_findings *findings)
{
	json_begin_array(json, "verdict");
	for (size_t i = 0; i < REPORT_FINDINGS; i++)
		if (findings->list[i].text[0] != '\0')
			report_put_finding(json, &findings->list[i]);
	json_end_array(json);
}

static void
report_put_numbers(struct json *json, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_add_unsigned(json, NULL, numbers[i]);
}

/* What the time went to, in the order in which the script names it. */
static void
report_put_waits(struct json *json, const struct report_waits *w)
{
	const uint64_t waits[] = {w->connect,		     w->path,			w->network,
				  w->program[REPORT_CLIENT], w->program[REPORT_SERVER], w->sending[REPORT_CLIENT],
				  w->sending[REPORT_SERVER], w->window[REPORT_CLIENT],	w->window[REPORT_SERVER],
				  w->lost[REPORT_CLIENT],    w->lost[REPORT_SERVER],	w->closing,
				  w->unknown};

	json_begin_array(json, NULL);
	report_put_numbers(json, waits, sizeof waits / sizeof waits[0]);
	json_end_array(json);
}

static void
report_put_services(struct json *json, const struct report_findings *findings)
{
	json_add_unsigned(json, "servicesCount", findings->services_count);
	json_begin_array(json, "services");
	for (size_t i = 0; i < findings->services_count && i < REPORT_SERVICES; i++) {
		json_break_line(json);
		json_begin_object(json, NULL);
		service_add_members(json, findings->services[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

/* The columns of a row, in the order in which the script names them. */
static void
report_put_row(struct json *json, const struct report_capture *capture, const struct report_record *record)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];
	const uint64_t counts[] = {client->bytes,  server->bytes,	 client->resent,
				   server->resent, client->zero_windows, server->zero_windows};
	const int64_t times[] = {record->handshake_us, record->answer_mean_us, record->answer_max_us,
				 record->rtt_mean_us};

	json_begin_array(json, NULL);
	json_add_signed(json, NULL, report_since(capture, record->start));
	json_add_unsigned(json, NULL, record->duration_us);
	json_add_unsigned(json, NULL, record->protocol);
	json_add_escaped(json, NULL, client->address);
	json_add_unsigned(json, NULL, client->port);
	json_add_escaped(json, NULL, server->address);
	json_add_unsigned(json, NULL, server->port);
	report_put_numbers(json, counts, sizeof counts / sizeof counts[0]);
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
		json_add_signed(json, NULL, times[i]);
	json_add_string(json, NULL, report_reason_name(record->reason));
	json_add_escaped(json, NULL, record->name);
	json_add_signed(json, NULL, record->detail);
	json_add_unsigned(json, NULL, client->segments + server->segments);
	json_add_unsigned(json, NULL, record->opened);
	report_put_waits(json, &record->waits);
	json_end_array(json);
}

static void
report_put_rows(struct json *json, const struct report_capture *capture)
{
	size_t rows = capture->records.count < REPORT_ROWS ? capture->records.count : REPORT_ROWS;

	json_add_unsigned(json, "connections", capture->records.count);
	json_begin_array(json, "rows");
	for (size_t i = 0; i < rows; i++) {
		json_break_line(json);
		report_put_row(json, capture, &capture->records.list[i]);
	}
	json_end_array(json);
}

static void
report_put_segment(struct json *json, const struct report_capture *capture, const struct report_segment *s)
{
	const uint64_t numbers[] = {s->packet, s->end,	  s->flags, s->sequence, s->length, s->acknowledgement,
				    s->window, s->kind, s->sacked};

	json_begin_array(json, NULL);
	json_add_signed(json, NULL, report_since(capture, s->time));
	report_put_numbers(json, numbers, sizeof numbers / sizeof numbers[0]);
	json_end_array(json);
}

static void
report_put_detail(struct json *json, const struct report_capture *capture, const struct report_detail *detail,
		  uint16_t number)
{
	json_begin_object(json, NULL);
	json_begin_array(json, "segments");
	for (size_t i = 0; i < detail->segments_count; i++)
		if (detail->segments[i].detail == number)
			report_put_segment(json, capture, &detail->segments[i]);
	json_end_array(json);
	json_begin_array(json, "changes");
	for (size_t i = 0; i < detail->changes_count; i++) {
		const struct report_change *c = &detail->changes[i];

		if (c->detail != number)
			continue;
		json_begin_array(json, NULL);
		json_add_signed(json, NULL, report_since(capture, c->time));
		report_put_numbers(json, (const uint64_t[]){c->end, c->before, c->after}, 3);
		json_end_array(json);
	}
	json_end_array(json);
	json_end_object(json);
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
report_put_details(struct json *json, const struct report_capture *capture, const struct report_detail *detail)
{
	if (detail->segments_count > 0)
		qsort(detail->segments, detail->segments_count, sizeof(*detail->segments), report_segment_compare);
	json_add_unsigned(json, "endSegments", detail->end_segments);
	json_begin_array(json, "stateNames");
	for (size_t i = 0; report_state_name(i) != NULL; i++)
		json_add_string(json, NULL, report_state_name(i));
	json_end_array(json);
	json_begin_array(json, "details");
	for (size_t i = 0; i < detail->count; i++) {
		json_break_line(json);
		report_put_detail(json, capture, detail, (uint16_t)i);
	}
	json_end_array(json);
}

/* Why numbers of packets are not those of Wireshark: words that the script knows; none if they are. */
static void
report_put_numbering(struct json *json, const struct report_capture *capture, const struct report_input *input)
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

	json_begin_array(json, "numbering");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].holds)
			json_add_string(json, NULL, reasons[i].word);
	json_end_array(json);
}

/* The block of data: JSON in which no character can end the element that contains it.  False if out of memory. */
static bool
report_put_data(FILE *file, const struct report_capture *capture, const struct report_findings *findings,
		const struct report_detail *detail, const struct report_input *input)
{
	const struct report_volume *volume = &capture->volume;
	struct json json = json_to_file(file);
	char first[FORMAT_NUMBER_MAX];
	bool all;

	json.in_html = true;
	json_begin_object(&json, NULL);
	json_begin_array(&json, "files");
	for (size_t i = 0; i < input->files_count; i++)
		json_add_string(&json, NULL, input->files[i]);
	json_end_array(&json);
	json_add_string(&json, "filter", input->filter != NULL ? input->filter : "");
	report_put_numbering(&json, capture, input);
	/* Too large for a number of the script. */
	json_add_text(&json, "first", first, (size_t)(put_u64(first, volume->first) - first));
	json_add_signed(&json, "duration", report_since(capture, volume->last));
	json_add_unsigned(&json, "frames", volume->frames);
	json_add_unsigned(&json, "bytes", volume->bytes);
	json_add_unsigned(&json, "stray", volume->stray);
	report_put_verdict(&json, findings);
	report_put_services(&json, findings);
	report_put_volume(&json, volume);
	all = report_put_states(&json, capture) && report_put_talkers(&json, capture);
	report_put_rows(&json, capture);
	report_put_details(&json, capture, detail);
	json_end_object(&json);
	return all;
}

bool
report_page_write(FILE *file, const struct report_capture *capture, const struct report_findings *findings,
		  const struct report_detail *detail, const struct report_input *input)
{
	struct page page;
	bool all = true;

	page_make(&page, false);
	for (unsigned i = 0; i < PAGE_PARTS; i++) {
		if (i == PAGE_DATA)
			all = report_put_data(file, capture, findings, detail, input);
		fwrite(page.parts[i].bytes, 1, page.parts[i].length, file);
	}
	return all && fflush(file) == 0 && !ferror(file);
}
