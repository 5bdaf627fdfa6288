/* SPDX-License-Identifier: BSD-2-Clause */
/* Events and remarks as numbers, whose text is made when it is read. */
#ifndef NETOBS_FLIGHT_EVENT_NOTE_H
#define NETOBS_FLIGHT_EVENT_NOTE_H

#include <stdint.h>

#include "flow/event.h"

#define RING_COMMENT_MAX 512u /* bytes of a note as text, with its NUL */

/* The packet is a RST, or a segment with a window of 0. */
enum ring_remark { RING_RESET, RING_ZERO_WINDOW };

/* Events are numbered by enum flow_event_kind; these come behind them. */
enum event_note_kind {
	EVENT_NOTE_TIMEOUT = 0x20, /* and the enum tcp_timeout */
	EVENT_NOTE_REMARK = 0x40,  /* and the enum ring_remark */
	EVENT_NOTE_TEXT = 0x60,	   /* for callers that store texts, too */
};

struct event_note {
	uint8_t event;
	uint8_t before, after;	    /* states; of a retransmission its kind */
	uint32_t count, elapsed_us; /* of a retransmission */
};

/* Set a note. */
void event_note_from_event(struct event_note *note, const struct flow_event *event);
void event_note_from_remark(struct event_note *note, enum ring_remark remark);

/* "tcp-state-change state-established -> state-fin-wait-1, cid 42"; ", pid 917 curl" unless `pid` is -1. */
void event_note_format(const struct event_note *note, uint64_t cid, int pid, const char *command,
		       char text[RING_COMMENT_MAX]);

#endif
