/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes: what happened at a frame.  They are stored as numbers; their text is made when they are read. */
#include <stdio.h>
#include <string.h>

#include "flight/ring_internal.h"

/* --------------------------------------------------------------------------------------------------------- storing */

size_t
ring_note_size(size_t length)
{
	return (size_t)ring_units(offsetof(struct ring_note_entry, text) + length + 1) * RING_UNIT;
}

/* A note with a text, whose memory is zero up to a whole unit; NULL if the frame has too many. */
static struct ring_note_entry *
ring_note_add(struct ring *ring, unsigned event, uint64_t cid, const char *text, size_t length)
{
	struct ring_pending *p = &ring->pending;
	size_t size = offsetof(struct ring_note_entry, text) + length + 1;
	size_t whole = ring_note_size(length);
	struct ring_note_entry *note = (void *)(p->note_bytes + p->notes_size);

	if (whole > sizeof p->note_bytes - p->notes_size) {
		ring->counters.notes_dropped++;
		return NULL;
	}
	memset(note, 0, sizeof *note); /* the size of both is constant, so that no loop is needed */
	memset((uint8_t *)note + whole - RING_UNIT, 0, RING_UNIT);
	note->kind = RING_ENTRY_NOTE;
	note->event = (uint8_t)event;
	note->size = (uint16_t)size;
	note->cid = cid;
	note->pid = -1;
	memcpy(note->text, text, length);
	p->notes_size += (unsigned)whole;
	p->notes++;
	return note;
}

/* The owner of a local end; its pid is -1 if it is unknown. */
static void
ring_note_owner(const struct ring *ring, const struct flow *flow, unsigned endpoint, struct owner *owner)
{
	struct owner_key key;

	owner->pid = -1;
	if (ring->find_owner == NULL || flow->kind == FLOW_SCTP || (flow->local >> endpoint & 1) == 0)
		return;
	owner_key_from_flow(&key, &flow->key, endpoint);
	if (!ring->find_owner(ring->owner_context, &key, ring->pending.frame.interface->ifindex,
			      flow_first_seen(ring->flows, flow), owner))
		owner->pid = -1;
}

static void
ring_note_add_owned(struct ring *ring, const struct event_note *stored, const struct flow *flow, unsigned endpoint)
{
	struct ring_note_entry *note;
	struct owner owner;

	if (ring->flows == NULL)
		return;
	ring_note_owner(ring, flow, endpoint, &owner);
	note = ring_note_add(ring, stored->event, flow_cid(ring->flows, flow, endpoint), owner.comm,
			     owner.pid == -1 ? 0 : strnlen(owner.comm, sizeof owner.comm));
	if (note == NULL)
		return;
	note->before = stored->before;
	note->after = stored->after;
	note->count = stored->count;
	note->elapsed_us = stored->elapsed_us;
	note->pid = owner.pid;
}

void
ring_add_event(struct ring *ring, const struct flow *flow, const struct flow_event *event)
{
	struct event_note note;

	event_note_from_event(&note, event);
	ring_note_add_owned(ring, &note, flow, event->endpoint);
}

void
ring_add_remark(struct ring *ring, const struct flow *flow, unsigned sender, enum ring_remark remark)
{
	struct event_note note;

	event_note_from_remark(&note, remark);
	ring_note_add_owned(ring, &note, flow, sender);
}

void
ring_add_text(struct ring *ring, uint64_t cid, const char *text)
{
	(void)ring_note_add(ring, EVENT_NOTE_TEXT, cid, text, strnlen(text, RING_COMMENT_MAX - 1));
}

/* --------------------------------------------------------------------------------------------------------- reading */

void
ring_note_text(const void *bytes, char text[RING_COMMENT_MAX])
{
	const struct ring_note_entry *note = bytes;
	const struct event_note stored = {note->event, note->before, note->after, note->count, note->elapsed_us};

	if (note->event == EVENT_NOTE_TEXT)
		snprintf(text, RING_COMMENT_MAX, "%s", note->text);
	else
		event_note_format(&stored, note->cid, note->pid, note->text, text);
}

bool
ring_frame_note(const struct ring *ring, const struct ring_frame *frame, size_t index, struct ring_note *note)
{
	uint64_t at = frame->position + ring_frame_units(ring_entry_at(ring, frame->position));
	enum ring_entry_kind kind;
	const struct ring_note_entry *entry;
	const void *annex;

	while ((kind = ring_next_annex(ring, &at, &annex)) != RING_ENTRY_PADDING) {
		if (kind != RING_ENTRY_NOTE || index-- > 0)
			continue;
		entry = annex;
		*note = (struct ring_note){.cid = entry->cid, .bytes = annex, .size = entry->size};
		return true;
	}
	return false;
}

void
ring_frame_comment(const struct ring *ring, const struct ring_frame *frame, size_t index, char text[RING_COMMENT_MAX])
{
	struct ring_note note;

	text[0] = '\0';
	if (ring_frame_note(ring, frame, index, &note))
		ring_note_text(note.bytes, text);
}
