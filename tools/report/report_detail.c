/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_detail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_lines.h"

/* Connections whose ids one formula lists: its text is limited. */
#define FORMULA_CONNECTIONS 30u

/* Bytes of the definition of a formula; of the one that reports what is SACKed. */
#define DEFINITION_SIZE 2048u
#define SACKED_SIZE	128u

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

/* Reads the fields that both kinds of segment have; false if its connection has no detail. */
static bool
report_detail_identity(const struct report_detail *detail, struct report_line *line, struct report_segment *segment)
{
	segment->packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	segment->time = (uint64_t)report_line_number(line, "pkt_ts", 0);
	return report_detail_find(detail, (uint64_t)report_line_number(line, "cs_cid", 0), &segment->detail,
				  &segment->end);
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

/* The firing of a retransmission precedes that of its segment. */
static void
report_detail_resent(struct report_detail *detail, struct report_line *line)
{
	detail->resent_packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	detail->resent_kind = (uint8_t)report_line_number(line, "tcpr_kind", 0);
}

static void
report_detail_change(struct report_detail *detail, struct report_line *line)
{
	struct report_change change = {0}, *to;
	uint64_t cid = (uint64_t)report_line_number(line, "cs_cid", 0);

	change.time = (uint64_t)report_line_number(line, "cs_ts", 0);
	if (!report_detail_find(detail, cid, &change.detail, &change.end))
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

static void
report_detail_line(const char *text, size_t length, void *context)
{
	struct report_line line;

	report_line_begin(&line, text, length);
	if (report_line_is(&line, "report-segment"))
		report_detail_segment(context, &line);
	else if (report_line_is(&line, "report-sacked"))
		report_detail_sender(context, &line);
	else if (report_line_is(&line, "report-answer"))
		report_detail_answer(context, &line);
	else if (report_line_is(&line, "report-resent"))
		report_detail_resent(context, &line);
	else if (report_line_is(&line, "report-state"))
		report_detail_change(context, &line);
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
report_detail_formula(const struct report_detail *detail, size_t first, const char *name, const char *probe,
		      bool limited)
{
	char *text = malloc(DEFINITION_SIZE);
	size_t used, last = first + FORMULA_CONNECTIONS;

	if (text == NULL)
		return NULL;
	if (last > detail->count)
		last = detail->count;
	used = (size_t)snprintf(text, DEFINITION_SIZE, "--formula=%s-%zu = %s where cs_cid in {", name, first, probe);
	for (size_t i = 2 * first; i < 2 * last; i++)
		used += (size_t)snprintf(text + used, DEFINITION_SIZE - used, "%s%llu", i > 2 * first ? ", " : "",
					 (unsigned long long)detail->ends[i].cid);
	used += (size_t)snprintf(text + used, DEFINITION_SIZE - used, "}");
	if (limited)
		snprintf(text + used, DEFINITION_SIZE - used, " && tcps_snd_segs <= %u", detail->end_segments);
	return text;
}

/* Defines the formulas, and runs netobsd with them. */
static void
report_detail_run(struct report_detail *detail, const struct replay_source *source)
{
	size_t groups = (detail->count + FORMULA_CONNECTIONS - 1) / FORMULA_CONNECTIONS, used = 0;
	char **more = calloc(3 * groups, sizeof(*more));
	char *all[3 * (REPORT_TOP_MAX / FORMULA_CONNECTIONS + 1) + 5];
	char sacked[SACKED_SIZE];

	snprintf(sacked, sizeof(sacked),
		 "--formula=report-sacked = tcp-receive where tcps_sack_fack != 0 && tcps_rcv_segs <= %u",
		 detail->end_segments);

	for (size_t i = 0; more != NULL && i < groups; i++) {
		size_t first = i * FORMULA_CONNECTIONS;

		more[used++] = report_detail_formula(detail, first, "report-segment", "tcp-send", true);
		more[used++] = report_detail_formula(detail, first, "report-resent", "tcp-retransmit", true);
		more[used++] = report_detail_formula(detail, first, "report-state", "tcp-state-change", false);
	}
	detail->no_memory = more == NULL;
	for (size_t i = 0; i < used; i++) {
		detail->no_memory |= more[i] == NULL;
		all[i] = more[i];
	}
	all[used] = "--view=both";
	all[used + 1] = "--format=json";
	all[used + 2] = "--formula=report-answer = tcp-receive where tcp_flags & RST || tcps_state == syn-sent";
	all[used + 3] = sacked;
	all[used + 4] = "--print=report-*";
	if (!detail->no_memory)
		detail->status =
		    replay_run_netobsd(source, all, used + 5, report_detail_line, report_detail_note, detail);
	for (size_t i = 0; i < used; i++)
		free(more[i]);
	free(more);
}

void
report_detail_read(struct report_detail *detail, const struct report_records *records, size_t count,
		   const struct replay_source *source)
{
	detail->count = count;
	if (count == 0)
		return;
	detail->end_segments = REPORT_SEGMENTS / 2 / (unsigned)count;
	if (detail->end_segments > REPORT_END_SEGMENTS)
		detail->end_segments = REPORT_END_SEGMENTS;
	detail->ends = calloc(2 * count, sizeof(*detail->ends));
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
	report_detail_run(detail, source);
}
