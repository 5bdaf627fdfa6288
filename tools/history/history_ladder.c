/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/history/history.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/names.h"
#include "probes/netobs.h"
#include "tools/write_client.h"

/* Room for a line, and for the words of a row. */
#define LADDER_LINE  512u
#define LADDER_WORDS 96u

/* ------------------------------------------------------------------------------------------------------- the words */

/* Without the word that all states of DTrace begin with. */
static const char *
ladder_state_name(uint32_t kind, uint32_t state)
{
	const char *name = kind == HISTORY_TCP_STATE ? tcp_state_name((enum tcp_state)state)
						     : sctp_state_name((enum sctp_state)state);

	return strncmp(name, "state-", 6) == 0 ? name + 6 : name;
}

static void
ladder_describe_segment(const struct history_row *row, char words[LADDER_WORDS])
{
	bool reset = (row->flags & NETOBS_TH_RST) != 0, opens = (row->flags & NETOBS_TH_SYN) != 0;
	char flags[24], bytes[32] = "", acknowledged[32] = "";

	field_set_tcp_flags(flags, (uint8_t)row->flags);
	if (row->length > 0)
		snprintf(bytes, sizeof bytes, " %u:%u", row->seq, row->seq + row->length);
	else if (!opens && (reset || (row->flags & NETOBS_TH_FIN) != 0))
		snprintf(bytes, sizeof bytes, " %u", row->seq);
	if ((row->flags & NETOBS_TH_ACK) != 0)
		snprintf(acknowledged, sizeof acknowledged, ", ack %u", row->ack);
	snprintf(words, LADDER_WORDS, "%s%s%s%s%s%s", flags[0] != '\0' ? flags : "no flags", bytes, acknowledged,
		 row->window == 0 && !reset ? ", window 0" : "", row->again != 0 ? ", again: " : "",
		 tcp_retransmit_kind_name((enum tcp_retransmit_kind)row->again));
}

static void
ladder_describe_chunks(const struct history_row *row, char words[LADDER_WORDS])
{
	const char *name = sctp_chunk_name(row->chunk);

	if (row->chunks == 0)
		snprintf(words, LADDER_WORDS, "0 chunks");
	else if (name == NULL)
		snprintf(words, LADDER_WORDS, "chunk %u", row->chunk);
	else
		snprintf(words, LADDER_WORDS, "%s", name);
}

static void
ladder_describe(const struct history_row *row, char words[LADDER_WORDS])
{
	switch ((enum history_kind)row->kind) {
	case HISTORY_SEGMENT:
		ladder_describe_segment(row, words);
		return;
	case HISTORY_DATAGRAM:
		snprintf(words, LADDER_WORDS, "%u bytes", row->length);
		return;
	case HISTORY_CHUNKS:
		ladder_describe_chunks(row, words);
		return;
	case HISTORY_TCP_STATE:
	case HISTORY_SCTP_STATE:
		snprintf(words, LADDER_WORDS, "%s -> %s", ladder_state_name(row->kind, row->before),
			 ladder_state_name(row->kind, row->after));
		return;
	case HISTORY_KINDS:
		break;
	}
	words[0] = '\0';
}

/* ------------------------------------------------------------------------------------------------------- the lines */

/* Drops the first half of the lines below the title. */
static void
ladder_drop_half(struct history_ladder *ladder)
{
	char *first = ladder->text + ladder->title, *end = ladder->text + ladder->used;
	char *kept = strchr(first + (end - first) / 2, '\n') + 1;

	memmove(first, kept, (size_t)(end - kept) + 1);
	ladder->used -= (size_t)(kept - first);
	ladder->cut = true;
}

/* Appends a line.  Earlier ones are dropped if it does not fit. */
static void __attribute__((format(printf, 2, 3))) ladder_print(struct history_ladder *ladder, const char *format, ...)
{
	char line[LADDER_LINE];
	va_list values;
	size_t length;

	va_start(values, format);
	vsnprintf(line, sizeof line, format, values);
	va_end(values);
	length = strlen(line);
	while (ladder->size - ladder->used <= length && ladder->used > ladder->title)
		ladder_drop_half(ladder);
	if (ladder->size - ladder->used <= length)
		return;
	memcpy(ladder->text + ladder->used, line, length + 1);
	ladder->used += length;
}

/* Moves the last line before so many lines above it. */
static void
ladder_move_up(struct history_ladder *ladder, unsigned lines)
{
	char *end = ladder->text + ladder->used, *first = ladder->text + ladder->title, *last = end - 1, *at;
	char line[LADDER_LINE];
	size_t length;

	while (last > first && last[-1] != '\n')
		last--;
	for (at = last; lines > 0 && at > first; lines--)
		do
			at--;
		while (at > first && at[-1] != '\n');
	length = (size_t)(end - last);
	if (at == last || length > sizeof line)
		return;
	memcpy(line, last, length);
	memmove(at + length, at, (size_t)(last - at));
	memcpy(at, line, length);
}

/* How many of the last rows are later than this time.  Adds the time to them. */
static unsigned
ladder_note_time(struct history_ladder *ladder, uint64_t time)
{
	uint64_t *latest = ladder->latest;
	unsigned count, later = 0;

	if (ladder->latest_count == HISTORY_LADDER_LATEST)
		memmove(latest, latest + 1, --ladder->latest_count * sizeof latest[0]);
	count = ladder->latest_count++;
	while (later < count && latest[count - later - 1] > time) {
		latest[count - later] = latest[count - later - 1];
		later++;
	}
	latest[count - later] = time;
	return later;
}

static void
ladder_format_end(const struct history_ends *ends, unsigned end, char text[64])
{
	const char *address = ends->address[end];

	snprintf(text, 64, strchr(address, ':') != NULL ? "[%s]:%u" : "%s:%u", address, (unsigned)ends->port[end]);
}

static void
ladder_add_titles(struct history_ladder *ladder, uint64_t first)
{
	char local[64], remote[64];

	if (ladder->begun)
		return;
	ladder->begun = true;
	ladder->first = first;
	ladder_format_end(ladder->ends, 0, local);
	ladder_format_end(ladder->ends, 1, remote);
	ladder_print(ladder, "%12s  %-30s       %s\n", "SECONDS", local, remote);
	ladder->title = ladder->used;
}

void
history_ladder_add(void *context, const struct history_row *row)
{
	struct history_ladder *ladder = context;
	bool change = row->kind == HISTORY_TCP_STATE || row->kind == HISTORY_SCTP_STATE;
	char words[LADDER_WORDS];
	unsigned later;
	double seconds;

	ladder_add_titles(ladder, row->time);
	ladder_describe(row, words);
	seconds = (double)(int64_t)(row->time - ladder->first) / 1e9;
	if (row->end == 0 && change)
		ladder_print(ladder, "%12.6f  %s\n", seconds, words);
	else if (row->end == 0)
		ladder_print(ladder, "%12.6f  %-30s  -->\n", seconds, words);
	else
		ladder_print(ladder, "%12.6f  %-30s  %s  %s\n", seconds, "", change ? "   " : "<--", words);
	/* Packets stay in the order of the capture. */
	later = ladder_note_time(ladder, row->time);
	if (change && later > 0)
		ladder_move_up(ladder, later);
}

/* ------------------------------------------------------------------------------------------- the packets of netobsd */

/* Room for the last line. */
#define HISTORY_LAST_LINE 128u

/* The error of a request that has no history. */
static bool
history_fail(int reason)
{
	errno = reason;
	return false;
}

bool
history_read(const struct history_request *request, char *text, char *error, size_t size)
{
	struct history_ends ends;
	struct history_ladder ladder = {.text = text, .size = HISTORY_TEXT_MAX - HISTORY_LAST_LINE, .ends = &ends};
	struct written_capture written;
	enum history_result result;
	int fd;

	text[0] = '\0';
	if (!history_ends_parse(&ends, request->address, request->port)) {
		snprintf(error, size, "connection %llu has no ports", (unsigned long long)request->cid);
		return history_fail(EIO);
	}
	fd = write_client_open(request->socket, request->cid, &written, error, size);
	if (fd < 0)
		return history_fail(written.failure);
	result = history_read_capture(fd, &ends, history_ladder_add, &ladder);
	close(fd);
	if (result != HISTORY_READ) {
		snprintf(error, size, "the packets of connection %llu %s", (unsigned long long)request->cid,
			 result == HISTORY_DAMAGED	? "cannot be read"
			 : result == HISTORY_UNCONFINED ? "are not observed: the process for that cannot be confined"
							: "could not be observed");
		return history_fail(EIO);
	}
	error[0] = '\0';
	if (ladder.used == 0) {
		snprintf(error, size, "the flight memory has no packets of connection %llu",
			 (unsigned long long)request->cid);
		return history_fail(ENODATA);
	}
	if (ladder.cut || written.cut)
		snprintf(text + ladder.used, HISTORY_LAST_LINE, "%s\n",
			 written.cut ? "Earlier packets are not in the flight memory any more."
				     : "Earlier packets are not shown.");
	return true;
}
