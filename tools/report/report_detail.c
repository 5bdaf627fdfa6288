/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_detail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_lines.h"

/* Connections whose ids one formula lists. */
#define FORMULA_CONNECTIONS (REPORT_FORMULA_CIDS / 2)

/* Time stamps may differ from packet time by so much, ns. */
#define TOLERANCE_NS 1000000000u

/* Formulas of the connections in detail. */
#define DETAIL_FORMULAS (3 * (REPORT_TOP_MAX / FORMULA_CONNECTIONS + 1))

/* Bytes of the end of a definition; of the formula that reports what is SACKed. */
#define LIMIT_SIZE  64u
#define SACKED_SIZE 128u

static const char *const state_names[] = {"<unknown>",	  "closed",	 "listen",     "syn-sent",
					  "syn-received", "established", "close-wait", "fin-wait-1",
					  "closing",	  "last-ack",	 "fin-wait-2", "time-wait"};

const char *
report_state_name(size_t state)
{
	return state < sizeof(state_names) / sizeof(state_names[0]) ? state_names[state] : NULL;
}

/* The state of the next tcps_statestr of the line. */
static uint8_t
report_detail_state(struct report_line *line)
{
	char word[24];
	const char *name = word;

	report_line_text(line, "tcps_statestr", word, sizeof(word));
	if (strncmp(name, "state-", 6) == 0)
		name += 6;
	for (uint8_t i = 1; report_state_name(i) != NULL; i++) {
		if (strcmp(name, report_state_name(i)) == 0)
			return i;
	}
	return 0;
}

/* The detail and the end of a connection id; false if it has none. */
static bool
report_detail_find(const struct report_detail *detail, uint64_t cid, uint16_t *number, uint8_t *end)
{
	for (size_t i = 0; i < 2 * detail->count; i++) {
		if (detail->ends[i].cid == cid) {
			*number = (uint16_t)(i / 2);
			*end = i % 2;
			return true;
		}
	}
	return false;
}

/* An element more; NULL if out of memory. */
static void *
report_detail_grow(void **list, size_t *count, size_t *capacity, size_t size)
{
	if (*count == *capacity) {
		size_t more = *capacity == 0 ? 1024 : 2 * *capacity;
		void *grown = reallocarray(*list, more, size);

		if (grown == NULL)
			return NULL;
		*list = grown;
		*capacity = more;
	}
	return (char *)*list + (*count)++ * size;
}

/* Reads the fields that both kinds of segment have; false if its connection has no detail.  A time stamp that is far
 * from packet time is ignored by netobsd. */
static bool
report_detail_identity(const struct report_detail *detail, struct report_line *line, struct report_segment *segment)
{
	uint64_t cid, now;

	segment->packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	segment->time = (uint64_t)report_line_number(line, "pkt_ts", 0);
	cid = (uint64_t)report_line_number(line, "cs_cid", 0);
	if (!report_detail_find(detail, cid, &segment->detail, &segment->end))
		return false;
	now = (uint64_t)report_line_number(line, "cs_ts", 0);
	if (segment->time > now + TOLERANCE_NS || segment->time + TOLERANCE_NS < now)
		segment->time = now;
	return true;
}

/* Reads the TCP header; the window has no scale yet. */
static void
report_detail_header(struct report_line *line, struct report_segment *segment)
{
	segment->sequence = (uint32_t)report_line_number(line, "tcp_seq", 0);
	segment->acknowledgement = (uint32_t)report_line_number(line, "tcp_ack", 0);
	segment->flags = (uint8_t)report_line_number(line, "tcp_flags", 0);
	segment->window = (uint32_t)report_line_number(line, "tcp_window", 0);
	segment->length = (uint32_t)report_line_number(line, "tcp_payload", 0);
}

static void
report_detail_add(struct report_detail *detail, const struct report_segment *segment)
{
	struct report_segment *to;
	struct report_detail_end *end;

	to = report_detail_grow((void **)&detail->segments, &detail->segments_count, &detail->segments_capacity,
				sizeof(*to));
	if (to == NULL) {
		detail->no_memory = true;
		return;
	}
	*to = *segment;
	end = &detail->ends[2 * segment->detail + segment->end];
	end->before_last = end->last;
	end->last = detail->segments_count;
}

/* The highest byte that the peer has SACKed.  A firing for a packet reports what the endpoint has received before this
 * packet, so the value belongs to the last segment of the peer before it. */
static void
report_detail_sacked(struct report_detail *detail, struct report_line *line, const struct report_segment *segment)
{
	const struct report_detail_end *peer = &detail->ends[2 * segment->detail + 1 - segment->end];
	uint32_t sacked = (uint32_t)report_line_number(line, "tcps_sack_fack", 0);
	size_t last = peer->last;

	if (last > 0 && detail->segments[last - 1].packet == segment->packet)
		last = peer->before_last;
	if (last > 0 && sacked != 0)
		detail->segments[last - 1].sacked = sacked;
}

/* A data sender that receives a segment while some of its data is SACKed. */
static void
report_detail_sender(struct report_detail *detail, struct report_line *line)
{
	struct report_segment segment = {0};

	if (report_detail_identity(detail, line, &segment))
		report_detail_sacked(detail, line, &segment);
}

static void
report_detail_segment(struct report_detail *detail, struct report_line *line)
{
	struct report_segment segment = {0};
	uint32_t window;

	if (!report_detail_identity(detail, line, &segment))
		return;
	window = (uint32_t)report_line_number(line, "tcps_rwnd", 0);
	report_detail_sacked(detail, line, &segment);
	report_detail_header(line, &segment);
	segment.window = window;
	if (segment.packet == detail->resent_packet)
		segment.kind = detail->resent_kind;
	report_detail_add(detail, &segment);
}

/* A port on which nothing listens has no endpoint, and neither has an older connection that answers a SYN: only the
 * firing of the receiver has a connection. */
static void
report_detail_answer(struct report_detail *detail, struct report_line *line)
{
	struct report_segment segment = {0};

	if (!report_detail_identity(detail, line, &segment))
		return;
	for (size_t i = detail->segments_count; i > 0 && detail->segments[i - 1].packet >= segment.packet; i--) {
		if (detail->segments[i - 1].packet == segment.packet)
			return;
	}
	segment.end = 1 - segment.end;
	report_detail_header(line, &segment);
	if (detail->ends[2 * segment.detail + segment.end].answers++ >= REPORT_END_ANSWERS)
		return;
	report_detail_add(detail, &segment);
}

/* The firing of a retransmission, or of a probe of a closed window, precedes that of its segment. */
static void
report_detail_resent(struct report_detail *detail, struct report_line *line)
{
	bool probe = report_line_contains(line, "\"of\":\"tcp-timeout-persist\"");

	detail->resent_packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	detail->resent_kind = probe ? REPORT_WINDOW_PROBE : (uint8_t)report_line_number(line, "tcpr_kind", 0);
}

static void
report_detail_change(struct report_detail *detail, struct report_line *line)
{
	struct report_change change = {0}, *to;
	uint64_t cid = (uint64_t)report_line_number(line, "cs_cid", 0);

	change.time = (uint64_t)report_line_number(line, "cs_ts", 0);
	if (!report_detail_find(detail, cid, &change.detail, &change.end))
		return;
	if (detail->ends[2 * change.detail + change.end].changes++ >= REPORT_END_CHANGES)
		return;
	change.before = report_detail_state(line);
	change.after = report_detail_state(line);
	to = report_detail_grow((void **)&detail->changes, &detail->changes_count, &detail->changes_capacity,
				sizeof(*to));
	if (to == NULL)
		detail->no_memory = true;
	else
		*to = change;
}

struct report_second_pass {
	struct report_detail *detail;
	struct report_exchanges *exchanges;
};

static void
report_detail_line(const char *text, size_t length, void *context)
{
	const struct report_second_pass *pass = context;
	struct report_line line;

	report_line_begin(&line, text, length);
	if (report_line_is(&line, "report-segment"))
		report_detail_segment(pass->detail, &line);
	else if (report_line_is(&line, "report-sacked"))
		report_detail_sender(pass->detail, &line);
	else if (report_line_is(&line, "report-answer"))
		report_detail_answer(pass->detail, &line);
	else if (report_line_is(&line, "report-resent"))
		report_detail_resent(pass->detail, &line);
	else if (report_line_is(&line, "report-state"))
		report_detail_change(pass->detail, &line);
	else
		(void)report_exchanges_read(pass->exchanges, &line);
}

/* The first pass has reported the messages. */
static void
report_detail_note(const char *line, void *context)
{
	(void)line;
	(void)context;
}

/* The option that defines one formula for the connections from `first` on; NULL if out of memory. */
static char *
report_detail_formula(const struct report_detail *detail, size_t first, const char *name, const char *where,
		      bool limited)
{
	uint64_t cids[REPORT_FORMULA_CIDS];
	char more[LIMIT_SIZE] = "";
	size_t count = 2 * detail->count - 2 * first;

	if (count > REPORT_FORMULA_CIDS)
		count = REPORT_FORMULA_CIDS;
	for (size_t i = 0; i < count; i++)
		cids[i] = detail->ends[2 * first + i].cid;
	if (limited)
		snprintf(more, sizeof(more), " && tcps_snd_segs <= %u", detail->end_segments);
	return report_line_formula(name, first, where, cids, count, more);
}

/* Adds the formulas of the details to the options; how many there are. */
static size_t
report_detail_define(struct report_detail *detail, char **options)
{
	size_t used = 0;

	for (size_t first = 0; first < detail->count; first += FORMULA_CONNECTIONS) {
		options[used++] = report_detail_formula(detail, first, "report-segment", "tcp-send where cs_cid", true);
		options[used++] = report_detail_formula(detail, first, "report-resent",
							"tcp-retransmit, tcp-timeout-persist where cs_cid", true);
		options[used++] =
		    report_detail_formula(detail, first, "report-state", "tcp-state-change where cs_cid", false);
	}
	for (size_t i = 0; i < used; i++)
		detail->no_memory |= options[i] == NULL;
	return used;
}

/* Defines the formulas, and runs netobsd with them. */
static void
report_detail_run(struct report_detail *detail, struct report_exchanges *exchanges, const struct replay_source *source)
{
	struct report_second_pass pass = {detail, exchanges};
	char *options[DETAIL_FORMULAS + REPORT_EXCHANGE_FORMULAS + 5];
	char sacked[SACKED_SIZE];
	size_t made = report_detail_define(detail, options), used = made;

	snprintf(sacked, sizeof(sacked),
		 "--formula=report-sacked = tcp-receive where tcps_sack_fack != 0 && tcps_rcv_segs <= %u",
		 detail->end_segments);
	for (size_t i = 0; i < exchanges->formulas_count; i++)
		options[used++] = exchanges->formulas[i];
	options[used++] = "--view=both";
	options[used++] = "--format=json";
	options[used++] = "--formula=report-answer = tcp-receive where tcp_flags & RST || tcps_state == syn-sent";
	options[used++] = sacked;
	options[used++] = "--print=report-*";
	if (!detail->no_memory)
		detail->status =
		    replay_run_netobsd(source, options, used, report_detail_line, report_detail_note, &pass);
	for (size_t i = 0; i < made; i++)
		free(options[i]);
}

void
report_detail_read(struct report_detail *detail, struct report_exchanges *exchanges,
		   const struct report_records *records, size_t count, const struct replay_source *source)
{
	detail->count = count;
	if (count == 0 && exchanges->formulas_count == 0)
		return;
	detail->end_segments = REPORT_SEGMENTS / 2 / (unsigned)(count > 0 ? count : 1);
	if (detail->end_segments > REPORT_END_SEGMENTS)
		detail->end_segments = REPORT_END_SEGMENTS;
	detail->ends = calloc(2 * count + 1, sizeof(*detail->ends));
	if (detail->ends == NULL) {
		detail->no_memory = true;
		return;
	}
	for (size_t i = 0; i < records->count; i++) {
		const struct report_record *record = &records->list[i];

		if (record->detail < 0)
			continue;
		detail->ends[2 * (size_t)record->detail].cid = record->ends[REPORT_CLIENT].cid;
		detail->ends[2 * (size_t)record->detail + 1].cid = record->ends[REPORT_SERVER].cid;
	}
	report_detail_run(detail, exchanges, source);
}
