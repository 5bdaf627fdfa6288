/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/event_note.h"

#include <stdio.h>

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
