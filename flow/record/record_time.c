/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/record/record_time.h"

#include <string.h>

#include "flow/flow.h"

/* A segment that follows an ACK, or another segment, within two round trips to its sender and this is one of a transfer
 * that goes on: hosts take so long to run a program. */
#define TIME_GOING_ON_US 2000u

/* Segments smaller than this do not show by their size that the window has no space for another. */
#define TIME_FULL_SEGMENT 536u

/* Captured segments may be larger than those on the wire: an interface splits or joins them. */
#define TIME_SEGMENT_MAX 1460u

static uint32_t
time_saturate(uint64_t us)
{
	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

void
time_begin(struct flow_time *time, uint64_t start)
{
	*time = (struct flow_time){
	    .start = start,
	    .answer_min_us = {UINT32_MAX, UINT32_MAX},
	    .rtt = {{.min_us = UINT32_MAX}, {.min_us = UINT32_MAX}},
	};
}

static uint64_t
time_elapsed_us(const struct flow_time *time, uint64_t now)
{
	return now > time->start ? (now - time->start) / 1000 : 0;
}

/* --- classes --- */

static void
time_give(uint64_t *us, uint64_t *pending_us, unsigned class, uint64_t part_us)
{
	if (part_us > *pending_us)
		part_us = *pending_us;
	us[class] += part_us;
	*pending_us -= part_us;
}

/* A packet to the end and one back, 0 unknown. */
static uint32_t
time_round_trip_us(const struct flow_time *time, unsigned end)
{
	return time->rtt[end].min_us != UINT32_MAX ? time->rtt[end].min_us : 0;
}

/* The wait was for the program of an end, which first has to receive something. */
static void
time_give_program(const struct flow_time *time, uint64_t *us, uint64_t *pending_us, unsigned end)
{
	time_give(us, pending_us, WAIT_PATH, time_round_trip_us(time, end));
	time_give(us, pending_us, WAIT_PROGRAM + end, UINT64_MAX);
}

/* The wait was for the next segment of a transfer that endpoint `end` sends.  A sender that has something to send goes
 * on as soon as an ACK allows it; what passes after that is a pause of its own. */
static void
time_give_transfer(const struct flow_time *time, uint64_t *us, uint64_t *pending_us, unsigned end)
{
	uint64_t near_us = 2ull * time_round_trip_us(time, end) + TIME_GOING_ON_US;
	bool full = (time->bits & TIME_FULL) != 0;
	unsigned held_up = full ? WAIT_WINDOW + (1 - end) : WAIT_NETWORK;

	if (*pending_us <= time->ack_us + near_us || (full && time->ack_us == 0))
		time_give(us, pending_us, held_up, UINT64_MAX);
	time_give(us, pending_us, held_up, time->ack_us);
	time_give(us, pending_us, WAIT_SENDING + end, UINT64_MAX);
}

static bool
time_has_turn(const struct flow_time *time, unsigned end)
{
	return (time->bits & TIME_TURN << end) != 0;
}

static bool
time_nobody_has_turn(const struct flow_time *time)
{
	return (time->bits & (TIME_TURN | TIME_TURN << 1)) == 0;
}

/* --- what ends a wait --- */

/* Something was lost, and is sent again: the sender could have been answered after a round trip. */
static void
time_give_lost(struct flow_time *time, unsigned sender)
{
	if (time_has_turn(time, sender) && time->ack_us == 0)
		time_give(time->us, &time->pending_us, WAIT_PATH, time_round_trip_us(time, 1 - sender));
	time_give(time->us, &time->pending_us, WAIT_LOST + sender, UINT64_MAX);
}

static unsigned
time_opener(const struct flow_time *time)
{
	return (time->bits & TIME_OPENER) != 0;
}

static void
time_take_connect(struct flow_time *time, const struct time_packet *p)
{
	time_give(time->us, &time->pending_us, p->resent ? WAIT_LOST + p->sender : WAIT_CONNECT, UINT64_MAX);
	if (p->sender != time_opener(time))
		time->bits |= TIME_ANSWERED;
	else if (p->resent)
		time->bits |= TIME_REPEATED;
	if ((p->flags & (TCP_SYN | TCP_RST)) == 0)
		time->bits &= (uint16_t)~TIME_CONNECT;
}

/* A TCP acknowledges within 500 ms (RFC 9293 section 3.8.6.3).  If a request was sent again and a later answer is the
 * first segment since then, that copy was lost, too, or what the server sent before. */
static bool
time_answer_was_lost(const struct flow_time *time, unsigned sender)
{
	return (time->bits & TIME_RESENT) != 0 && time_has_turn(time, 1 - sender) &&
	       time->pending_us > time_round_trip_us(time, sender) + 500000ull;
}

/* Fresh payload. */
static void
time_end_with_payload(struct flow_time *time, const struct time_packet *p)
{
	uint64_t pause_us = time->us[WAIT_SENDING + p->sender], answer_us = time->us[WAIT_PROGRAM + p->sender];

	if ((time->bits & TIME_MIDSTREAM) != 0 || p->ambiguous || time_answer_was_lost(time, p->sender) ||
	    (p->from != NULL && p->to->segments_sent == 0)) {
		time_give(time->us, &time->pending_us, WAIT_UNKNOWN, UINT64_MAX);
	} else if (time_has_turn(time, p->sender)) {
		time_give_transfer(time, time->us, &time->pending_us, p->sender);
		pause_us = time->us[WAIT_SENDING + p->sender] - pause_us;
		if (pause_us > time->pause_max_us)
			time->pause_max_us = time_saturate(pause_us);
	} else {
		time_give_program(time, time->us, &time->pending_us, p->sender);
		answer_us = time->us[WAIT_PROGRAM + p->sender] - answer_us;
		if (!time_nobody_has_turn(time)) {
			time->slow_answers[p->sender] += answer_us >= SLOW_ANSWER_US;
			if (answer_us < time->answer_min_us[p->sender])
				time->answer_min_us[p->sender] = time_saturate(answer_us);
			if (answer_us > time->answer_max_us[p->sender])
				time->answer_max_us[p->sender] = time_saturate(answer_us);
		}
	}
}

/* The end of a connection, or of what was captured of it: nobody has answered, and perhaps nobody was to. */
static void
time_give_end(const struct flow_time *time, uint64_t *us, uint64_t *pending_us)
{
	if ((time->bits & TIME_MIDSTREAM) != 0)
		time_give(us, pending_us, WAIT_UNKNOWN, UINT64_MAX);
	else if ((time->bits & TIME_FULL) != 0 && time->ack_us == 0)
		time_give(us, pending_us, WAIT_WINDOW + time_has_turn(time, 0), UINT64_MAX);
	else if (time_nobody_has_turn(time))
		time_give_program(time, us, pending_us, time_opener(time));
	else
		time_give_program(time, us, pending_us, time_has_turn(time, 0));
}

/* Whether bytes of the receiver of the packet are missing: they are captured after a loss. */
static bool
time_peer_has_hole(const struct time_packet *p)
{
	return p->from != NULL && p->from->segments_sent > 1 && p->to->segments_sent != 0 &&
	       (int32_t)(p->from->rcv_nxt - p->to->nxt) < 0;
}

static void
time_take_open(struct flow_time *time, const struct time_packet *p)
{
	for (unsigned end = 0; end < 2; end++)
		if (p->closed[end] && !time_has_turn(time, end)) {
			time_give(time->us, &time->pending_us, WAIT_WINDOW + end, UINT64_MAX);
			time->ack_us = 0;
		}
	if (p->resent)
		time_give_lost(time, p->sender);
	else if (p->hole || time_peer_has_hole(p))
		time_give(time->us, &time->pending_us, WAIT_LOST + (p->hole ? p->sender : 1 - p->sender), UINT64_MAX);
	else if (p->fresh != 0)
		time_end_with_payload(time, p);
	else if ((p->flags & (TCP_FIN | TCP_RST)) != 0)
		time_give_end(time, time->us, &time->pending_us);
	else
		return;
	time->ack_us = 0;
}

static void
time_take_closing(struct flow_time *time, const struct time_packet *p)
{
	time_give(time->us, &time->pending_us, p->resent || p->hole ? WAIT_LOST + p->sender : WAIT_CLOSING, UINT64_MAX);
}

/* --- what begins one --- */

static void
time_take_turn(struct flow_time *time, unsigned sender)
{
	if (!time_has_turn(time, sender)) {
		time->turns += !time_nobody_has_turn(time);
		time->bits &= (uint16_t)~(TIME_TURN | TIME_TURN << 1);
		time->bits |= (uint16_t)(TIME_TURN << sender);
	}
	time->bits &= (uint16_t)~(TIME_MIDSTREAM | TIME_FULL);
	time->asked_low_us = (uint32_t)time->elapsed_us;
}

/* Bytes of `sender` that `receiver` has not acknowledged yet, 0 if either is unknown. */
static uint32_t
time_flight(const struct tcp_endpoint *sender, const struct tcp_endpoint *receiver)
{
	uint32_t flight = sender->nxt - receiver->last_ack_sent;

	return sender->segments_sent != 0 && receiver->segments_sent != 0 && flight < 1u << 30 ? flight : 0;
}

/* Whether the window of the receiver has no space for another segment.  Without its SYN the shift is unknown. */
static bool
time_window_is_full(const struct time_packet *p, uint32_t flight)
{
	uint32_t segment = p->fresh < TIME_FULL_SEGMENT ? 1 : p->fresh < TIME_SEGMENT_MAX ? p->fresh : TIME_SEGMENT_MAX;

	return (p->to->flags & TCP_EP_ISS_KNOWN) != 0 && flight + segment > p->to->wnd;
}

static void
time_take_flights(struct flow_time *time, const struct time_packet *p)
{
	unsigned sender = p->sender, receiver = 1 - sender;
	uint32_t flight = time_flight(p->to, p->from);

	time->acked_flight = time->flight[receiver];
	if (time_has_turn(time, receiver) && (flight < time->flight[receiver] || (time->bits & TIME_FULL) != 0))
		time->ack_us = time->pending_us != 0 ? time_saturate(time->pending_us) : 1;
	time->flight[receiver] = flight;
	time->flight[sender] = flight = time_flight(p->from, p->to);
	if (flight > time->flight_max[sender])
		time->flight_max[sender] = flight;
	if (p->fresh != 0 && time_window_is_full(p, flight))
		time->bits |= TIME_FULL;
}

/* The first FIN or RST: whether data has no answer yet. */
static void
time_take_close(struct flow_time *time, const struct time_packet *p)
{
	if ((time->bits & TIME_CLOSED) != 0) {
		if (p->fresh != 0 && p->sender != ((time->bits & TIME_CLOSER) != 0))
			time->bits |= TIME_CUT;
		return;
	}
	if ((p->flags & (TCP_FIN | TCP_RST)) == 0)
		return;
	time->bits |= (uint16_t)(TIME_CLOSED | (p->sender != 0 ? TIME_CLOSER : 0) |
				 ((p->flags & TCP_RST) != 0 ? TIME_CLOSED_BY_RST : 0));
	if (time_nobody_has_turn(time) || (p->fresh != 0 && !time_has_turn(time, p->sender)))
		return;
	time->open_us = ((uint32_t)time->elapsed_us - time->asked_low_us) | 1;
	time->bits |= (uint16_t)(time_has_turn(time, 1) ? TIME_ASKER : 0);
}

/* A client that has asked and sends nothing more still waits for the answer. */
static bool
time_begins_closing(const struct flow_time *time, const struct time_packet *p)
{
	if ((p->flags & TCP_RST) != 0)
		return true;
	return (p->flags & TCP_FIN) != 0 && !(p->sender == time_opener(time) && time_has_turn(time, p->sender) &&
					      (time->bits & TIME_ANSWERED) != 0);
}

static void
time_take_first(struct flow_time *time, const struct time_packet *p)
{
	bool answers = (p->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK);

	time->bits |= (uint16_t)((p->sender != 0) != answers ? TIME_OPENER : 0);
	if (p->from != NULL)
		time->bits |= (p->flags & TCP_SYN) != 0 ? TIME_CONNECT : TIME_MIDSTREAM;
}

void
time_take_packet(struct flow_time *time, const struct time_packet *p)
{
	uint64_t elapsed_us = time_elapsed_us(time, p->now), passed_us;

	passed_us = elapsed_us > time->elapsed_us ? elapsed_us - time->elapsed_us : 0;
	time->elapsed_us += passed_us;
	time->pending_us += passed_us;
	for (unsigned end = 0; end < 2; end++)
		if (time->flight[end] != 0 || (p->closed[1 - end] && time_has_turn(time, end)))
			time->busy_us[end] += passed_us;
	if ((time->bits & TIME_STARTED) == 0)
		time_take_first(time, p);
	else if ((time->bits & TIME_CLOSING) != 0)
		time_take_closing(time, p);
	else if ((time->bits & TIME_CONNECT) != 0)
		time_take_connect(time, p);
	else
		time_take_open(time, p);
	time->bits |= TIME_STARTED;
	if (time_begins_closing(time, p))
		time->bits |= TIME_CLOSING;
	time_take_close(time, p);
	if (p->fresh != 0)
		time_take_turn(time, p->sender);
	if (p->resent && time_has_turn(time, p->sender))
		time->bits |= TIME_RESENT;
	else if (!time_has_turn(time, p->sender) || p->fresh != 0)
		time->bits &= (uint16_t)~TIME_RESENT;
	if (p->resent && p->fresh != 0)
		time->missing_resent[p->sender]++;
	if (p->from != NULL)
		time_take_flights(time, p);
}

void
time_add_round_trip(struct flow_time *time, unsigned end, uint32_t us)
{
	struct flow_round_trips *rtt = &time->rtt[end];

	rtt->samples++;
	rtt->sum_us += us;
	if (us < rtt->min_us)
		rtt->min_us = us;
	if (us > rtt->max_us)
		rtt->max_us = us;
	if (time->acked_flight > time->flight_max[1 - end] / 2) {
		rtt->loaded++;
		rtt->loaded_sum_us += us;
	}
}

void
time_divide(const struct flow_time *time, uint64_t last, uint64_t *us)
{
	uint64_t elapsed_us = time_elapsed_us(time, last), pending_us = time->pending_us;

	memcpy(us, time->us, sizeof time->us);
	if (elapsed_us > time->elapsed_us)
		pending_us += elapsed_us - time->elapsed_us;
	if ((time->bits & TIME_CLOSING) != 0)
		time_give(us, &pending_us, WAIT_CLOSING, UINT64_MAX);
	else if ((time->bits & TIME_CONNECT) != 0)
		time_give(us, &pending_us, (time->bits & (TIME_ANSWERED | TIME_REPEATED)) == TIME_REPEATED ?
			  WAIT_LOST + time_opener(time) : WAIT_CONNECT, UINT64_MAX);
	else
		time_give_end(time, us, &pending_us);
}
