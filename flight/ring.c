/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flight/ring_internal.h"
#include "flow/memory.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"

void
event_note_from_event(struct event_note *note, const struct flow_event *event)
{
	*note = (struct event_note){.event = (uint8_t)event->kind};

	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		note->before = event->tcp_before.state;
		note->after = event->tcp_after.state;
		break;
	case EVENT_SCTP_STATE_CHANGE:
		note->before = event->sctp_before.state;
		note->after = event->sctp_after.state;
		break;
	case EVENT_TCP_TIMEOUT:
	case EVENT_TCP_RETRANSMIT:
		if (event->kind == EVENT_TCP_TIMEOUT)
			note->event = (uint8_t)(EVENT_NOTE_TIMEOUT + (unsigned)event->timeout);
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
event_note_from_remark(struct event_note *note, enum ring_remark remark)
{
	*note = (struct event_note){.event = (uint8_t)(EVENT_NOTE_REMARK + (unsigned)remark)};
}

static const char *
event_note_word(unsigned event)
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
	    [EVENT_NOTE_TIMEOUT + TIMEOUT_RETRANSMIT] = "tcp-timeout-retransmit",
	    [EVENT_NOTE_TIMEOUT + TIMEOUT_PERSIST] = "tcp-timeout-persist",
	    [EVENT_NOTE_TIMEOUT + TIMEOUT_KEEPALIVE] = "tcp-timeout-keepalive",
	    [EVENT_NOTE_TIMEOUT + TIMEOUT_TIME_WAIT] = "tcp-timeout-time-wait",
	    [EVENT_NOTE_TIMEOUT + TIMEOUT_CONNECT] = "tcp-timeout-connect",
	    [EVENT_NOTE_REMARK + RING_RESET] = "tcp-reset",
	    [EVENT_NOTE_REMARK + RING_ZERO_WINDOW] = "tcp-zero-window",
	};

	return words[event];
}

/* What the event says beyond its name: the states, the cause of a retransmission. */
static void
event_note_format_detail(const struct event_note *note, char *text, size_t size)
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
event_note_format(const struct event_note *note, uint64_t cid, int pid, const char *command,
		  char text[RING_COMMENT_MAX])
{
	char detail[80], owner[40] = "";

	event_note_format_detail(note, detail, sizeof detail);
	if (pid != -1)
		snprintf(owner, sizeof owner, ", pid %d %s", pid, command);
	snprintf(text, RING_COMMENT_MAX, "%s%s, cid %llu%s", event_note_word(note->event), detail,
		 (unsigned long long)cid, owner);
}

/* ------------------------------------------------------------------------------------------------------- ring notes */

/* Notes: what happened at a frame.  They are stored as numbers; their text is made when they are read. */

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

/* ------------------------------------------------------------------------------------------------------------- ring */

/* The ring: its memory, its oldest frames. */

#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* A frame is cut to this part of the ring, and its links and notes are not larger. */
#define RING_FRAME_PART 8u

/* Bytes of the ring for each mark in a small ring: with its header a TCP segment without data, options and link header
 * takes as many. */
#define RING_FRAME_LEAST 96u

/* Units for which a mark is enough, except in a small ring, whose frames have one each. */
#define RING_MARK_DISTANCE 64u
#define RING_SMALL	   (2 * RING_MEMORY_MIN)

/* How far ahead of new frames memory is fetched for writing. */
#define FETCH_AHEAD 1024u

/* --------------------------------------------------------------------------------------------------------- memory */

static size_t
ring_mapped_size(size_t memory)
{
	size_t page = memory >= HUGE_PAGE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);

	return (memory + page - 1) / page * page;
}

static size_t
ring_slots_size(const struct ring_limits *limits)
{
	return flow_index_space(limits->flows) * sizeof(struct ring_slot);
}

/* Two successive distances between marks are at least RING_MARK_DISTANCE together. */
static size_t
ring_mark_count(size_t memory)
{
	return memory < RING_SMALL ? memory / RING_FRAME_LEAST : memory / RING_UNIT / (RING_MARK_DISTANCE / 2);
}

size_t
ring_memory_size(const struct ring_limits *limits)
{
	return ring_mapped_size(limits->memory) + (ring_mark_count(limits->memory) + 1) * sizeof(struct ring_mark) +
	       ring_slots_size(limits) + sizeof(struct ring) + ring_interfaces_memory_size() +
	       fragment_frames_memory_size();
}

/* Makes every page present, so that memory that is missing is an error now and not a fault later. */
static bool
ring_populate(void *memory, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (madvise(memory, size, MADV_POPULATE_WRITE) == 0)
		return true;
	if (errno != EINVAL) /* Linux before 5.14 */
		return false;
#endif
	for (size_t at = 0; at < size; at += 4096)
		((volatile uint8_t *)memory)[at] = 0;
	return true;
}

/* Without MAP_NORESERVE: the kernel refuses what it cannot give. */
static void *
ring_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, size, MADV_HUGEPAGE); /* small pages work, too */
	if (ring_populate(memory, size))
		return memory;
	munmap(memory, size);
	errno = ENOMEM;
	return NULL;
}

static void
ring_unmap(void *memory, size_t size)
{
	if (memory != NULL)
		munmap(memory, size);
}

static bool
ring_allocate(struct ring *ring, const struct ring_limits *limits)
{
	ring->mapped = ring_mapped_size(limits->memory);
	ring->memory = ring_map(ring->mapped);
	if (ring->memory == NULL)
		return false;
	ring->mark_count = ring_mark_count(limits->memory) + 1; /* one is always free */
	ring->marks = ring_map(ring->mark_count * sizeof *ring->marks);
	ring->slots = memory_reserve_huge(ring_slots_size(limits));
	ring->interfaces = ring_interfaces_new(limits->seed);
	ring->fragments = fragment_frames_new(limits->seed);
	errno = ENOMEM;
	return ring->marks != NULL && ring->slots != NULL && ring->interfaces != NULL && ring->fragments != NULL;
}

struct ring *
ring_new(const struct ring_limits *limits)
{
	uint64_t part = limits->memory / RING_FRAME_PART - sizeof(struct ring_frame_entry);
	struct ring *ring;

	if (limits->memory < RING_MEMORY_MIN || limits->memory > RING_MEMORY_MAX) {
		errno = EINVAL;
		return NULL;
	}
	ring = calloc(1, sizeof *ring);
	if (ring == NULL)
		return NULL;
	ring->slot_count = (uint32_t)flow_index_space(limits->flows);
	if (!ring_allocate(ring, limits)) {
		int error = errno;

		ring_free(ring);
		errno = error;
		return NULL;
	}
	ring->units = limits->memory / RING_UNIT;
	/* Positions begin with the second lap, so that 0 is not a position. */
	ring->lap = ring->head = ring->tail = ring->limit = ring->units;
	ring->mark_distance = limits->memory < RING_SMALL ? 1 : RING_MARK_DISTANCE;
	ring->caplen_max = part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
	if (limits->snap != 0 && limits->snap < ring->caplen_max)
		ring->caplen_max = limits->snap;
	ring->bytes_max = limits->bytes != 0 ? limits->bytes : UINT64_MAX;
	return ring;
}

void
ring_free(struct ring *ring)
{
	if (ring == NULL)
		return;
	ring_unmap(ring->memory, ring->mapped);
	ring_unmap(ring->marks, ring->mark_count * sizeof *ring->marks);
	memory_release(ring->slots, (size_t)ring->slot_count * sizeof *ring->slots);
	if (ring->interfaces != NULL)
		ring_interfaces_free(ring->interfaces);
	if (ring->fragments != NULL)
		fragment_frames_free(ring->fragments);
	free(ring);
}

void
ring_set_flow_table(struct ring *ring, const struct flow_table *flows)
{
	ring->flows = flows;
}

void
ring_set_owner_lookup(struct ring *ring, emitter_find_owner *find, void *context)
{
	ring->find_owner = find;
	ring->owner_context = context;
}

void
ring_set_leave_handler(struct ring *ring, ring_leave_handler *handler, void *context)
{
	ring->leave = handler;
	ring->leave_context = context;
}

/* -------------------------------------------------------------------------------------------------------- entries */

static uint64_t
ring_skip_padding(const struct ring *ring, uint64_t position)
{
	if (position < ring->head) {
		const struct ring_padding_entry *padding = ring_entry_at(ring, position);

		if (padding->kind == RING_ENTRY_PADDING)
			return position + padding->units;
	}
	return position;
}

enum ring_entry_kind
ring_next_annex(const struct ring *ring, uint64_t *position, const void **entry)
{
	const struct ring_note_entry *note;

	if (*position >= ring->head)
		return RING_ENTRY_PADDING;
	*entry = note = ring_entry_at(ring, *position);
	if (note->kind == RING_ENTRY_LINK)
		*position += ring_units(sizeof(struct ring_link_entry));
	else if (note->kind == RING_ENTRY_NOTE)
		*position += ring_units(note->size);
	else
		return RING_ENTRY_PADDING;
	return (enum ring_entry_kind)note->kind;
}

uint64_t
ring_next_frame(const struct ring *ring, uint64_t position)
{
	const struct ring_frame_entry *frame = ring_entry_at(ring, position);
	const void *annex;

	position += ring_frame_units(frame);
	if ((frame->bits & RING_FRAME_MORE) != 0)
		while (ring_next_annex(ring, &position, &annex) != RING_ENTRY_PADDING)
			;
	return ring_skip_padding(ring, position);
}

static void
ring_frame_add_cid(struct ring_frame *frame, uint64_t cids[RING_CONNECTIONS_MAX], uint64_t cid)
{
	for (size_t i = 0; i < frame->cid_count; i++)
		if (cids[i] == cid)
			return;
	if (cid != 0 && frame->cid_count < RING_CONNECTIONS_MAX)
		cids[frame->cid_count++] = cid;
}

void
ring_fill_frame(const struct ring *ring, uint64_t position, struct ring_frame *frame,
		uint64_t cids[RING_CONNECTIONS_MAX])
{
	const struct ring_frame_entry *entry = ring_entry_at(ring, position);
	const struct ring_source *source = ring_interfaces_source(ring->interfaces, entry->source);
	uint64_t at = position + ring_frame_units(entry);
	enum ring_entry_kind kind;
	const void *annex;

	*frame = (struct ring_frame){
	    .interface = source->interface,
	    .dlt = source->dlt,
	    .ts = entry->ts,
	    .now = entry->now,
	    .data = entry->data,
	    .caplen = entry->caplen,
	    .len = entry->len,
	    .direction = entry->bits & RING_FRAME_DIRECTION,
	    .packet_id = entry->packet_id,
	    .cids = cids,
	    .sender = (entry->bits & RING_FRAME_SENDER) != 0,
	    .position = position,
	};
	ring_frame_add_cid(frame, cids, entry->cid);
	if ((entry->bits & RING_FRAME_MORE) == 0)
		return;
	while ((kind = ring_next_annex(ring, &at, &annex)) != RING_ENTRY_PADDING) {
		const struct ring_link_entry *link = annex;

		if (kind == RING_ENTRY_NOTE)
			frame->notes++;
		else if ((link->bits & RING_LINK_EARLIER) == 0)
			ring_frame_add_cid(frame, cids, link->cid);
	}
}

/* ----------------------------------------------------------------------------------------------------- the oldest */

static void
ring_report_leave(struct ring *ring)
{
	uint64_t cids[RING_CONNECTIONS_MAX];
	struct ring_frame frame;

	ring_fill_frame(ring, ring->tail, &frame, cids);
	ring->leave(ring->leave_context, &frame);
}

/* Reports and removes the oldest frames one by one, up to `end`. */
static void
ring_report_oldest(struct ring *ring, uint64_t end)
{
	while (ring->tail != end) {
		ring_report_leave(ring);
		ring->counters.overwritten++;
		ring->tail = ring_next_frame(ring, ring->tail);
	}
}

/* Removes the oldest frames, up to the next mark. */
static void
ring_remove_oldest(struct ring *ring)
{
	uint64_t end = ring->head, number = ring->counters.frames;

	if (++ring->mark_tail == ring->mark_count)
		ring->mark_tail = 0;
	if (ring->mark_tail != ring->mark_head) {
		const struct ring_mark *mark = &ring->marks[ring->mark_tail];

		end = ring->tail + (mark->position - (uint32_t)ring->tail);
		number = ring->counters.overwritten + (mark->number - (uint32_t)ring->counters.overwritten);
	} else {
		ring->limit = ring->head; /* the next frame needs a mark */
	}
	if (__builtin_expect(ring->leave != NULL, 0))
		ring_report_oldest(ring, end);
	ring->counters.overwritten = number;
	ring->tail = end;
}

void
ring_drain(struct ring *ring)
{
	while (ring->tail < ring->head)
		ring_remove_oldest(ring);
}

/* Fetches the memory that the frames after these units overwrite.  A fetch past the end of the ring has no
 * effect. */
static void
ring_fetch_ahead(const struct ring *ring, uint64_t units)
{
	const uint8_t *ahead = (const uint8_t *)ring_entry_at(ring, ring->head) + FETCH_AHEAD;

	for (uint64_t line = 0; line <= units / (64 / RING_UNIT); line++)
		__builtin_prefetch(ahead + line * 64, 1);
}

static void
ring_remove_before(struct ring *ring, uint64_t end)
{
	while (end - ring->tail > ring->units)
		ring_remove_oldest(ring);
}

/* Fills the end of the memory, which is too small for the next entry. */
static void
ring_begin_lap(struct ring *ring, uint64_t left)
{
	ring_remove_before(ring, ring->head + left);
	if (left != 0)
		*(struct ring_padding_entry *)ring_entry_at(ring, ring->head) =
		    (struct ring_padding_entry){.kind = RING_ENTRY_PADDING, .units = (uint32_t)left};
	if (ring->tail == ring->head)
		ring->tail += left;
	ring->head += left;
	ring->lap = ring->head;
}

/* Marks the frame at `head`, which is added next. */
static void
ring_add_mark(struct ring *ring)
{
	size_t next = ring->mark_head + 1 == ring->mark_count ? 0 : ring->mark_head + 1;

	if (next == ring->mark_tail)
		ring_remove_oldest(ring);
	ring->marks[ring->mark_head] = (struct ring_mark){(uint32_t)ring->head, (uint32_t)ring->counters.frames};
	ring->mark_head = next;
}

void
ring_make_room(struct ring *ring, uint64_t units)
{
	uint64_t left = ring->units - (ring->head - ring->lap);

	if (left < units) {
		ring_begin_lap(ring, left);
		left = ring->units;
	}
	if (units < ring->mark_distance)
		units = ring->mark_distance < left ? ring->mark_distance : left;
	ring_remove_before(ring, ring->head + units);
	ring_add_mark(ring);
	ring->limit = ring->head + units;
	ring_fetch_ahead(ring, units);
}

struct ring_counters
ring_counters(const struct ring *ring)
{
	struct ring_counters counters = ring->counters;

	counters.frames_now = counters.frames - counters.overwritten;
	if (counters.frames_now != 0) {
		counters.oldest = ((const struct ring_frame_entry *)ring_entry_at(ring, ring->tail))->now;
		counters.newest = ring->newest;
	}
	return counters;
}

unsigned
ring_add_link_types(const struct ring *ring, int *types, unsigned count, unsigned most)
{
	return ring_interfaces_add_link_types(ring->interfaces, types, count, most);
}
