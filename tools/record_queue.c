/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- the line */

/* Parses a decimal number that ends at `end`. */
static bool
record_parse_number(const char *text, const char *end, uint64_t *number)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &stop, 10);
	return errno == 0 && stop == end;
}

/* A name becomes part of a file name, so its characters are checked again. */
static bool
record_parse_name(const char *text, size_t length, char name[RECORD_TRIGGER_MAX])
{
	if (length == 0 || length >= RECORD_TRIGGER_MAX ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") < length || *text == '-')
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	return true;
}

enum record_line
record_line_parse(const char *line, struct record_trigger *trigger, uint64_t *lost)
{
	const char *cid = strchr(line, '\t'), *ts = cid != NULL ? strchr(cid + 1, '\t') : NULL;

	if (*line == '\0')
		return RECORD_END;
	if (strncmp(line, "lost ", 5) == 0)
		return record_parse_number(line + 5, line + strlen(line), lost) ? RECORD_LOST : RECORD_WRONG;
	*trigger = (struct record_trigger){.cid = 0};
	if (ts == NULL || !record_parse_name(line, (size_t)(cid - line), trigger->name))
		return RECORD_WRONG;
	if (strcmp(cid, "\t-\t-") == 0)
		return RECORD_TRIGGER;
	return record_parse_number(cid + 1, ts, &trigger->cid) && trigger->cid > 0 &&
			       record_parse_number(ts + 1, ts + strlen(ts), &trigger->ts)
		   ? RECORD_TRIGGER
		   : RECORD_WRONG;
}

/* -------------------------------------------------------------------------------------------------------- the queue */

/* The two endpoints of a connection have the ids 2n + 1 and 2n + 2. */
static uint64_t
record_connection(uint64_t cid)
{
	return (cid - 1) / 2 + 1;
}

bool
record_queue_has(const struct record_queue *queue, uint64_t cid)
{
	uint64_t connection = record_connection(cid);

	for (size_t i = 0; queue->count > 0 && i < RECORD_QUEUE_MAX; i++)
		if (queue->connections[i] == connection)
			return true;
	return false;
}

bool
record_queue_add(struct record_queue *queue, const struct record_trigger *trigger)
{
	size_t place = (queue->first + queue->count) % RECORD_QUEUE_MAX;

	if (queue->count == RECORD_QUEUE_MAX)
		return false;
	queue->triggers[place] = *trigger;
	queue->connections[place] = record_connection(trigger->cid);
	queue->count++;
	return true;
}

const struct record_trigger *
record_queue_first(const struct record_queue *queue)
{
	return queue->count > 0 ? &queue->triggers[queue->first] : NULL;
}

void
record_queue_remove_first(struct record_queue *queue)
{
	queue->connections[queue->first] = 0;
	queue->first = (queue->first + 1) % RECORD_QUEUE_MAX;
	queue->count--;
}
