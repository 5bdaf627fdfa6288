/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on_queue.h"

#include <string.h>

#include "tools/json_reader.h"

/* --------------------------------------------------------------------------------------------------------- the line */

/* A name becomes part of a file name, so its characters are checked again. */
static bool
write_on_check_name(const char *text, char name[WRITE_ON_TRIGGER_MAX])
{
	size_t length = strlen(text);

	if (length == 0 || length >= WRITE_ON_TRIGGER_MAX ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") < length || *text == '-')
		return false;
	memcpy(name, text, length + 1);
	return true;
}

/* A probe may have neither connection nor time. */
static bool
write_on_read_trigger(const json_t *object, struct write_on_trigger *trigger)
{
	const char *name = json_read_string(object, "probe");
	const json_t *cid = json_object_get(object, "cid"), *ts = json_object_get(object, "ts");

	*trigger = (struct write_on_trigger){.cid = 0};
	if (name == NULL || !write_on_check_name(name, trigger->name))
		return false;
	if ((cid == NULL || json_is_null(cid)) && (ts == NULL || json_is_null(ts)))
		return true;
	return json_read_unsigned(object, "cid", &trigger->cid) && trigger->cid > 0 &&
	       json_read_unsigned(object, "ts", &trigger->ts);
}

enum write_on_line
write_on_line_parse(const char *line, struct write_on_trigger *trigger, uint64_t *lost)
{
	enum write_on_line kind = WRITE_ON_WRONG;
	json_t *object;

	if (*line == '\0')
		return WRITE_ON_END;
	object = json_read_object(line, strlen(line));
	if (json_read_unsigned(object, "lost", lost))
		kind = WRITE_ON_LOST;
	else if (write_on_read_trigger(object, trigger))
		kind = WRITE_ON_TRIGGER;
	json_decref(object);
	return kind;
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
