/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/replay/history_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Longest line of netobsd that is read. */
#define LINE_SIZE 512u

/* A line "TIME PROBE END > END: TEXT", split in place. */
struct history_event {
	int64_t time_ns;
	const char *probe, *from, *to;
	char *text;
};

/* "2023-11-14T22:13:20.008100000Z"; -1 if it is none. */
static int64_t
history_parse_time(const char *text)
{
	struct tm utc = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
	long ns;

	if (end == NULL || sscanf(end, ".%9ldZ", &ns) != 1)
		return -1;
	return (int64_t)timegm(&utc) * 1000000000 + ns;
}

static bool
history_split(char *line, struct history_event *event)
{
	const char *time = strsep(&line, " ");
	char *colon;

	event->probe = strsep(&line, " ");
	event->from = strsep(&line, " ");
	if (strsep(&line, " ") == NULL || line == NULL || (colon = strstr(line, ": ")) == NULL)
		return false;
	*colon = '\0';
	event->to = line;
	event->text = colon + 2;
	event->time_ns = history_parse_time(time);
	return event->time_ns >= 0;
}

/* Whether an event is between these ends.  An association of SCTP has further addresses, with the same ports. */
static bool
history_is_between(const struct history_event *event, const char *from, const char *to)
{
	if (strncmp(event->probe, "sctp-", 5) == 0)
		return strcmp(strrchr(event->from, ':'), strrchr(from, ':')) == 0 &&
		       strcmp(strrchr(event->to, ':'), strrchr(to, ':')) == 0;
	return strcmp(event->from, from) == 0 && strcmp(event->to, to) == 0;
}

/* Whether the sender is the local end; two ends with one port are told apart by their addresses. */
static bool
history_is_from_local(const struct history_lines *history, const struct history_event *event)
{
	return history_is_between(event, history->local, history->remote) &&
	       strcmp(event->from, history->remote) != 0 && strcmp(event->to, history->local) != 0;
}

/* The value behind a word in ", WORD VALUE," of a line; -1 if it is not there. */
static long
history_number(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	long number;

	return at != NULL && sscanf(at + strlen(word), " %ld", &number) == 1 ? number : -1;
}

/* "state-closed -> state-syn-sent, cid 3" */
static void
history_describe_change(const char *text, char *to, size_t size)
{
	char before[32] = "", after[32] = "";

	sscanf(text, "%31s -> %31[^,]", before, after);
	snprintf(to, size, "%s -> %s", strncmp(before, "state-", 6) == 0 ? before + 6 : before,
		 strncmp(after, "state-", 6) == 0 ? after + 6 : after);
}

/* The number relative to the first byte of an end.  If that is not known, this number is 1. */
static uint32_t
history_relative(struct history_lines *history, unsigned end, uint32_t number)
{
	if (!history->has_origin[end]) {
		history->origin[end] = number - 1;
		history->has_origin[end] = true;
	}
	return number - history->origin[end];
}

/* "SYN|ACK, seq 1, ack 2, win 0, length 10, ..." */
static void
history_describe_segment(struct history_lines *history, const char *text, bool local, char *to, size_t size)
{
	int flags = (int)strcspn(text, ",");
	bool reset = strstr(text, "RST") != NULL, opens = strstr(text, "SYN") != NULL;
	uint32_t length = (uint32_t)history_number(text, "length"), number = (uint32_t)history_number(text, "seq");
	long ack = history_number(text, ", ack");
	char bytes[32] = "", acknowledged[32] = "";

	if (opens) {
		history->origin[!local] = number;
		history->has_origin[!local] = true;
		number++;
	}
	number = history_relative(history, !local, number);
	if (length > 0)
		snprintf(bytes, sizeof bytes, " %u:%u", number, number + length);
	else if (!opens && (reset || strstr(text, "FIN") != NULL))
		snprintf(bytes, sizeof bytes, " %u", number);
	if (ack >= 0)
		snprintf(acknowledged, sizeof acknowledged, ", ack %u",
			 history_relative(history, local, (uint32_t)ack));
	snprintf(to, size, "%.*s%s%s%s%s%s", flags, text, bytes, acknowledged,
		 history_number(text, ", win") == 0 && !reset ? ", window 0" : "",
		 history->resent[0] != '\0' ? ", again: " : "", history->resent);
	history->resent[0] = '\0';
}

/* "length 10, ..." of UDP, "INIT, 1 chunks, ..." of SCTP */
static void
history_describe_message(const char *text, char *to, size_t size)
{
	if (strncmp(text, "length", 6) == 0)
		snprintf(to, size, "%ld bytes", history_number(text, "length"));
	else
		snprintf(to, size, "%.*s", (int)strcspn(text, ","), text);
}

/* "..., length 1000, timeout, sent 2 times, ..." */
static void
history_note_retransmission(struct history_lines *history, const char *text)
{
	const char *at = strstr(text, "length ");

	if (at == NULL || sscanf(at, "length %*d, %23[^,]", history->resent) != 1)
		snprintf(history->resent, sizeof history->resent, "retransmitted");
}

/* Drops the first half of the lines below the title. */
static void
history_drop_half(struct history_lines *history)
{
	char *first = history->text + history->title, *end = history->text + history->used;
	char *kept = strchr(first + (end - first) / 2, '\n') + 1;

	memmove(first, kept, (size_t)(end - kept) + 1);
	history->used -= (size_t)(kept - first);
	history->cut = true;
}

/* Appends a line.  Earlier ones are dropped if it does not fit. */
static void __attribute__((format(printf, 2, 3))) history_print(struct history_lines *history, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list values;
	size_t length;

	va_start(values, format);
	vsnprintf(line, sizeof line, format, values);
	va_end(values);
	length = strlen(line);
	while (history->size - history->used <= length && history->used > history->title)
		history_drop_half(history);
	if (history->size - history->used <= length)
		return;
	memcpy(history->text + history->used, line, length + 1);
	history->used += length;
}

static void
history_add_titles(struct history_lines *history, int64_t time_ns)
{
	if (history->begun)
		return;
	history->begun = true;
	history->first_ns = time_ns;
	history_print(history, "%12s  %-30s       %s\n", "SECONDS", history->local, history->remote);
	history->title = history->used;
}

void
history_lines_add(const char *line, size_t length, void *context)
{
	struct history_lines *history = context;
	struct history_event event;
	char copy[LINE_SIZE], what[96];
	double seconds;
	bool local, change;

	if (length >= sizeof copy)
		return;
	memcpy(copy, line, length);
	copy[length] = '\0';
	if (!history_split(copy, &event) || strchr(event.from, ':') == NULL || strchr(event.to, ':') == NULL ||
	    !(history_is_between(&event, history->local, history->remote) ||
	      history_is_between(&event, history->remote, history->local)))
		return;
	if (strcmp(event.probe, "tcp-retransmit") == 0) {
		history_note_retransmission(history, event.text);
		return;
	}
	history_add_titles(history, event.time_ns);
	seconds = (double)(event.time_ns - history->first_ns) / 1e9;
	local = history_is_from_local(history, &event);
	change = strstr(event.probe, "-state-change") != NULL;
	if (change)
		history_describe_change(event.text, what, sizeof what);
	else if (strncmp(event.probe, "tcp-", 4) == 0)
		history_describe_segment(history, event.text, local, what, sizeof what);
	else
		history_describe_message(event.text, what, sizeof what);
	if (local && change)
		history_print(history, "%12.6f  %s\n", seconds, what);
	else if (local)
		history_print(history, "%12.6f  %-30s  -->\n", seconds, what);
	else
		history_print(history, "%12.6f  %-30s  %s  %s\n", seconds, "", change ? "   " : "<--", what);
}
