/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes: what happened at a frame.  They are stored as numbers; their text is made when they are read. */
#include <stdio.h>
#include <string.h>

#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "recorder/ring_internal.h"

/* Events are stored by enum flow_event_kind; these come behind them. */
enum ring_note_event {
	RING_NOTE_TIMEOUT = 0x20, /* and the enum tcp_timeout */
	RING_NOTE_REMARK = 0x40,  /* and the enum ring_remark */
	RING_NOTE_TEXT = 0x60,
};

/* --------------------------------------------------------------------------------------------------------- storing */

/* A note with a text, whose memory is zero up to a whole unit; NULL if the frame has too many. */
static struct ring_note_entry *
ring_note_add(struct ring *ring, unsigned event, uint64_t cid, const char *text, size_t length)
{
	struct ring_pending *p = &ring->pending;
	size_t size = offsetof(struct ring_note_entry, text) + length + 1;
	size_t whole = (size_t)ring_units(size) * RING_UNIT;
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

static struct ring_note_entry *
ring_note_add_owned(struct ring *ring, unsigned event, const struct flow *flow, unsigned endpoint)
{
	struct ring_note_entry *note;
	struct owner owner;

	if (ring->flows == NULL)
		return NULL;
	ring_note_owner(ring, flow, endpoint, &owner);
	note = ring_note_add(ring, event, flow_cid(ring->flows, flow, endpoint), owner.comm,
			     owner.pid == -1 ? 0 : strnlen(owner.comm, sizeof owner.comm));
	if (note != NULL)
		note->pid = owner.pid;
	return note;
}

void
ring_add_event(struct ring *ring, const struct flow *flow, const struct flow_event *event)
{
	unsigned kind = event->kind == EVENT_TCP_TIMEOUT ? RING_NOTE_TIMEOUT + (unsigned)event->timeout : event->kind;
	struct ring_note_entry *note = ring_note_add_owned(ring, kind, flow, event->endpoint);

	if (note == NULL)
		return;
	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		note->before = event->tcp_before.state;
		note->after = event->tcp_after.state;
		break;
	case EVENT_SCTP_STATE_CHANGE:
		note->before = event->sctp_before.state;
		note->after = event->sctp_after.state;
		break;
	case EVENT_TCP_RETRANSMIT:
	case EVENT_TCP_TIMEOUT:
		note->after = (uint8_t)event->retransmission.kind;
		note->count = event->retransmission.count;
		note->elapsed_us = event->retransmission.elapsed_us;
		break;
	case EVENT_TCP_CONNECT_REQUEST:
	case EVENT_TCP_CONNECT_ESTABLISHED:
	case EVENT_TCP_CONNECT_REFUSED:
	case EVENT_TCP_ACCEPT_ESTABLISHED:
	case EVENT_TCP_ACCEPT_REFUSED:
	case EVENT_UDP_STREAM_START:
	case EVENT_UDP_STREAM_END:
		break;
	}
}

void
ring_add_remark(struct ring *ring, const struct flow *flow, unsigned sender, enum ring_remark remark)
{
	(void)ring_note_add_owned(ring, RING_NOTE_REMARK + (unsigned)remark, flow, sender);
}

void
ring_add_text(struct ring *ring, uint64_t cid, const char *text)
{
	(void)ring_note_add(ring, RING_NOTE_TEXT, cid, text, strnlen(text, RING_COMMENT_MAX - 1));
}

/* --------------------------------------------------------------------------------------------------------- reading */

static const char *
ring_note_word(unsigned event)
{
	static const char *const words[] = {
	    [EVENT_TCP_CONNECT_REQUEST] = "tcp-connect-request",
	    [EVENT_TCP_CONNECT_ESTABLISHED] = "tcp-connect-established",
	    [EVENT_TCP_CONNECT_REFUSED] = "tcp-connect-refused",
	    [EVENT_TCP_ACCEPT_ESTABLISHED] = "tcp-accept-established",
	    [EVENT_TCP_ACCEPT_REFUSED] = "tcp-accept-refused",
	    [EVENT_TCP_STATE_CHANGE] = "tcp-state-change",
	    [EVENT_TCP_RETRANSMIT] = "tcp-retransmit",
	    [EVENT_UDP_STREAM_START] = "udp-stream-start",
	    [EVENT_UDP_STREAM_END] = "udp-stream-end",
	    [EVENT_SCTP_STATE_CHANGE] = "sctp-state-change",
	    [RING_NOTE_TIMEOUT + TIMEOUT_RETRANSMIT] = "tcp-timeout-retransmit",
	    [RING_NOTE_TIMEOUT + TIMEOUT_PERSIST] = "tcp-timeout-persist",
	    [RING_NOTE_TIMEOUT + TIMEOUT_KEEPALIVE] = "tcp-timeout-keepalive",
	    [RING_NOTE_TIMEOUT + TIMEOUT_TIME_WAIT] = "tcp-timeout-time-wait",
	    [RING_NOTE_TIMEOUT + TIMEOUT_CONNECT] = "tcp-timeout-connect",
	    [RING_NOTE_REMARK + RING_RESET] = "tcp-reset",
	    [RING_NOTE_REMARK + RING_ZERO_WINDOW] = "tcp-zero-window",
	};

	return words[event];
}

/* What the event says beyond its name: the states, the cause of a retransmission. */
static void
ring_note_format_detail(const struct ring_note_entry *note, char *text, size_t size)
{
	text[0] = '\0';
	if (note->event == EVENT_TCP_STATE_CHANGE)
		snprintf(text, size, " %s -> %s", tcp_state_name((enum tcp_state)note->before),
			 tcp_state_name((enum tcp_state)note->after));
	else if (note->event == EVENT_SCTP_STATE_CHANGE)
		snprintf(text, size, " %s -> %s", sctp_state_name((enum sctp_state)note->before),
			 sctp_state_name((enum sctp_state)note->after));
	else if (note->event == EVENT_TCP_RETRANSMIT)
		snprintf(text, size, " %s, sent %u times, the last %u us before",
			 tcp_retransmit_kind_name((enum tcp_retransmit_kind)note->after), note->count,
			 note->elapsed_us);
}

void
ring_note_text(const void *bytes, char text[RING_COMMENT_MAX])
{
	const struct ring_note_entry *note = bytes;
	char detail[80], owner[40] = "";

	if (note->event == RING_NOTE_TEXT) {
		snprintf(text, RING_COMMENT_MAX, "%s", note->text);
		return;
	}
	ring_note_format_detail(note, detail, sizeof detail);
	if (note->pid >= 0)
		snprintf(owner, sizeof owner, ", pid %d %s", (int)note->pid, note->text);
	snprintf(text, RING_COMMENT_MAX, "%s%s, cid %llu%s", ring_note_word(note->event), detail,
		 (unsigned long long)note->cid, owner);
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
