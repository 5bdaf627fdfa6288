/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- the line */

/* Parses a decimal number that ends at `end`. */
static bool
write_on_parse_number(const char *text, const char *end, uint64_t *number)
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
write_on_parse_name(const char *text, size_t length, char name[WRITE_ON_TRIGGER_MAX])
{
	if (length == 0 || length >= WRITE_ON_TRIGGER_MAX ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") < length || *text == '-')
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	return true;
}

enum write_on_line
write_on_line_parse(const char *line, struct write_on_trigger *trigger, uint64_t *lost)
{
	const char *cid = strchr(line, '\t'), *ts = cid != NULL ? strchr(cid + 1, '\t') : NULL;

	if (*line == '\0')
		return WRITE_ON_END;
	if (strncmp(line, "lost ", 5) == 0)
		return write_on_parse_number(line + 5, line + strlen(line), lost) ? WRITE_ON_LOST : WRITE_ON_WRONG;
	*trigger = (struct write_on_trigger){.cid = 0};
	if (ts == NULL || !write_on_parse_name(line, (size_t)(cid - line), trigger->name))
		return WRITE_ON_WRONG;
	if (strcmp(cid, "\t-\t-") == 0)
		return WRITE_ON_TRIGGER;
	return write_on_parse_number(cid + 1, ts, &trigger->cid) && trigger->cid > 0 &&
		       write_on_parse_number(ts + 1, ts + strlen(ts), &trigger->ts)
		   ? WRITE_ON_TRIGGER
		   : WRITE_ON_WRONG;
}

/* -------------------------------------------------------------------------------------------------------- the queue */

/* The two endpoints of a connection have the ids 2n + 1 and 2n + 2. */
static uint64_t
write_on_connection(uint64_t cid)
{
	return (cid - 1) / 2 + 1;
}

bool
write_on_queue_has(const struct write_on_queue *queue, uint64_t cid)
{
	uint64_t connection = write_on_connection(cid);

	for (size_t i = 0; queue->count > 0 && i < WRITE_ON_QUEUE_MAX; i++)
		if (queue->connections[i] == connection)
			return true;
	return false;
}

bool
write_on_queue_add(struct write_on_queue *queue, const struct write_on_trigger *trigger)
{
	size_t place = (queue->first + queue->count) % WRITE_ON_QUEUE_MAX;

	if (queue->count == WRITE_ON_QUEUE_MAX)
		return false;
	queue->triggers[place] = *trigger;
	queue->connections[place] = write_on_connection(trigger->cid);
	queue->count++;
	return true;
}

const struct write_on_trigger *
write_on_queue_first(const struct write_on_queue *queue)
{
	return queue->count > 0 ? &queue->triggers[queue->first] : NULL;
}

void
write_on_queue_remove_first(struct write_on_queue *queue)
{
	queue->connections[queue->first] = 0;
	queue->first = (queue->first + 1) % WRITE_ON_QUEUE_MAX;
	queue->count--;
}
