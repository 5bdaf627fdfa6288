/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/record/record_time.h"

#include <string.h>

#include "flow/flow.h"

/* What follows within this is the same burst, or was sent at once: hosts take so long to run a program. */
#define TIME_GOING_ON_US 2000u

/* So much senders may have outstanding from the beginning (RFC 6928), unless segments are lost. */
#define TIME_FLIGHT_ALLOWED 14600u

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

static bool
time_has_turn(const struct flow_time *time, unsigned end)
{
	return (time->bits & (uint32_t)TIME_TURN << end) != 0;
}

static bool
time_nobody_has_turn(const struct flow_time *time)
{
	return (time->bits & (TIME_TURN | TIME_TURN << 1)) == 0;
}

/* Whether a segment with fresh payload is not a full one. */
static bool
time_is_small(const struct flow_time *time, const struct time_packet *p)
{
	return p->fresh < TIME_FULL_SEGMENT || p->fresh < time->segment_max[p->sender];
}

/* A small segment waits until all before it is acknowledged (RFC 896), others for congestion control: such a segment
 * follows the ACK at once at its sender's end, and after a round trip at the other end. */
static bool
time_was_held(const struct flow_time *time, unsigned end, uint64_t pending_us)
{
	uint64_t after_ack_us = pending_us > time->ack_us ? pending_us - time->ack_us : 0;
	uint32_t rtt_us = time_round_trip_us(time, end);

	return ((time->bits & TIME_DRAINED) != 0 || time->flight_max[end] > TIME_FLIGHT_ALLOWED) && time->ack_us != 0 &&
	       after_ack_us + rtt_us / 8 >= rtt_us &&
	       after_ack_us <= rtt_us + rtt_us / 8 + TIME_GOING_ON_US;
}

/* A packet to the end and one back, as it is while the path is in use, 0 unknown. */
static uint64_t
time_round_trip_mean_us(const struct flow_time *time, unsigned end)
{
	return time->rtt[end].samples != 0 ? time->rtt[end].sum_us / time->rtt[end].samples : 0;
}

/* Whether no ACK has just allowed endpoint `end` to send.  A full window is one until an ACK opens it. */
static bool
time_is_late(const struct flow_time *time, unsigned end, uint64_t pending_us)
{
	uint64_t rtt_us = time_round_trip_mean_us(time, end);

	return pending_us > time->ack_us + rtt_us + rtt_us / 2 + TIME_GOING_ON_US &&
	       !((time->bits & TIME_FULL) != 0 && time->ack_us == 0);
}

/* Whether window and path would have taken the next segment of endpoint `end` all the time.  `late`: no ACK has just
 * allowed it.  While data is outstanding a congestion control may pace what follows, but sends at least four
 * segments a round trip, in pairs. */
static bool
time_was_allowed(const struct flow_time *time, unsigned end, uint64_t pending_us, bool late)
{
	uint64_t path_us = time_round_trip_mean_us(time, end) + time_round_trip_mean_us(time, 1 - end);

	if ((time->bits & TIME_FULL) != 0 || time->us[WAIT_LOST + end] != 0)
		return false;
	if ((time->bits & TIME_PARTIAL) != 0)
		return true;
	return late && time->flight_max[end] <= TIME_FLIGHT_ALLOWED &&
	       ((time->bits & TIME_DRAINED) != 0 || pending_us > path_us / 2 + path_us / 8 + TIME_GOING_ON_US);
}

/* The wait was for the next segment of a transfer that endpoint `end` sends.  A sender that has something to send goes
 * on as soon as an ACK allows it; what passes after the ACK is a pause of its own, and all of the wait is one if only
 * the sender's program has held up the segment. */
static void
time_give_transfer(const struct flow_time *time, uint64_t *us, uint64_t *pending_us, unsigned end)
{
	bool full = (time->bits & TIME_FULL) != 0, late = time_is_late(time, end, *pending_us);
	bool pause = late && (time->bits & TIME_DRAINED) != 0;

	if (*pending_us > TIME_GOING_ON_US && !time_was_held(time, end, *pending_us) &&
	    time_was_allowed(time, end, *pending_us, late))
		pause = true;
	else if (full)
		time_give(us, pending_us, WAIT_WINDOW + (1 - end), late ? time->ack_us : UINT64_MAX);
	else
		time_give(us, pending_us, WAIT_NETWORK, pause ? time->ack_us : UINT64_MAX);
	time_give(us, pending_us, pause ? WAIT_SENDING + end : WAIT_NETWORK, UINT64_MAX);
}

static unsigned
time_opener(const struct flow_time *time)
{
	return (time->bits & TIME_OPENER) != 0;
}

/* Nobody has the turn, and the program of `end` has begun: only the packets of its peer have come to it. */
static void
time_give_first(const struct flow_time *time, uint64_t *us, uint64_t *pending_us, unsigned end)
{
	if (end == time_opener(time))
		time_give(us, pending_us, WAIT_PROGRAM + end, UINT64_MAX);
	else
		time_give_program(time, us, pending_us, end);
}

/* Something was lost, and is sent again: the sender could have been answered after a round trip. */
static void
time_give_lost(struct flow_time *time, unsigned sender)
{
	time->bits &= ~(uint32_t)(TIME_DOUBT_PATH | TIME_DOUBT_END);
	time->bits |= sender != 0 ? TIME_DOUBT_END : 0;
	if (time_has_turn(time, sender) && time->ack_us == 0) {
		time_give(time->us, &time->pending_us, WAIT_PATH, time_round_trip_us(time, 1 - sender));
		time->bits |= TIME_DOUBT_PATH;
	}
	time_give(time->us, &time->pending_us, WAIT_LOST + sender, UINT64_MAX);
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
		time->bits &= ~(uint32_t)TIME_CONNECT;
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
	    (time->bits & TIME_ONE_WAY) != 0) {
		time_give(time->us, &time->pending_us, WAIT_UNKNOWN, UINT64_MAX);
	} else if (time_has_turn(time, p->sender)) {
		time_give_transfer(time, time->us, &time->pending_us, p->sender);
		pause_us = time->us[WAIT_SENDING + p->sender] - pause_us;
		if (pause_us > time->pause_max_us)
			time->pause_max_us = time_saturate(pause_us);
	} else if (time_nobody_has_turn(time)) {
		time_give_first(time, time->us, &time->pending_us, p->sender);
	} else {
		time_give_program(time, time->us, &time->pending_us, p->sender);
		answer_us = time->us[WAIT_PROGRAM + p->sender] - answer_us;
		if (answer_us >= SLOW_ANSWER_US && time->slow_answers[p->sender] != UINT16_MAX)
			time->slow_answers[p->sender]++;
		if (answer_us < time->answer_min_us[p->sender])
			time->answer_min_us[p->sender] = time_saturate(answer_us);
		if (answer_us > time->answer_max_us[p->sender])
			time->answer_max_us[p->sender] = time_saturate(answer_us);
	}
}

/* The end of a connection, or of what was captured of it: nobody has answered, and perhaps nobody was to. */
static void
time_give_end(const struct flow_time *time, uint64_t *us, uint64_t *pending_us)
{
	if ((time->bits & (TIME_MIDSTREAM | TIME_ONE_WAY)) != 0)
		time_give(us, pending_us, WAIT_UNKNOWN, UINT64_MAX);
	else if ((time->bits & TIME_FULL) != 0 && time->ack_us == 0)
		time_give(us, pending_us, WAIT_WINDOW + time_has_turn(time, 0), UINT64_MAX);
	else if (time_nobody_has_turn(time))
		time_give_first(time, us, pending_us, time_opener(time));
	else if ((time->bits & TIME_CLOSED) != 0 && ((time->bits & TIME_CLOSER) != 0) == time_has_turn(time, 0))
		time_give(us, pending_us, WAIT_CLOSING, UINT64_MAX); /* the end that would ask has closed */
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

/* A client that has asked and sends nothing more still waits for the answer. */
static bool
time_only_asks(const struct flow_time *time, const struct time_packet *p)
{
	return (p->flags & (TCP_FIN | TCP_RST)) == TCP_FIN && p->sender == time_opener(time) &&
	       time_has_turn(time, p->sender) && (time->bits & TIME_ANSWERED) != 0;
}

static void
time_take_open(struct flow_time *time, const struct time_packet *p)
{
	uint64_t lost_us = time->us[WAIT_LOST + p->sender];

	/* A sender that has something for a closed window probes it. */
	if (p->closed[1 - p->sender] && time_has_turn(time, p->sender)) {
		time_give(time->us, &time->pending_us, WAIT_WINDOW + (1 - p->sender), UINT64_MAX);
		time->ack_us = 0;
	}
	if (p->resent)
		time_give_lost(time, p->sender);
	else if (p->hole || time_peer_has_hole(p))
		time_give(time->us, &time->pending_us, WAIT_LOST + (p->hole ? p->sender : 1 - p->sender), UINT64_MAX);
	else if (p->fresh != 0)
		time_end_with_payload(time, p);
	else if ((p->flags & TCP_FIN) != 0 && time_has_turn(time, p->sender) && (time->bits & TIME_FULL) != 0 &&
		 !time_is_late(time, p->sender, time->pending_us))
		time_give(time->us, &time->pending_us, WAIT_WINDOW + (1 - p->sender), UINT64_MAX);
	else if ((p->flags & (TCP_FIN | TCP_RST)) != 0 && !time_only_asks(time, p))
		time_give_end(time, time->us, &time->pending_us);
	else
		return;
	time->ack_us = 0;
	time->doubt_lost_us = p->resent ? time_saturate(time->us[WAIT_LOST + p->sender] - lost_us) : 0;
}

static void
time_take_closing(struct flow_time *time, const struct time_packet *p)
{
	time_give(time->us, &time->pending_us, p->resent || p->hole ? WAIT_LOST + p->sender : WAIT_CLOSING, UINT64_MAX);
}

/* --- what begins one --- */

static void
time_take_turn(struct flow_time *time, const struct time_packet *p)
{
	unsigned sender = p->sender;

	if (!time_has_turn(time, sender)) {
		time->turns += !time_nobody_has_turn(time);
		time->bits &= ~(uint32_t)(TIME_TURN | TIME_TURN << 1);
		time->bits |= (uint32_t)(TIME_TURN << sender);
	}
	time->bits &= ~(uint32_t)(TIME_MIDSTREAM | TIME_FULL | TIME_PARTIAL | TIME_DRAINED);
	if (p->fresh >= time->segment_max[sender])
		time->segment_max[sender] = (uint16_t)(p->fresh < TIME_SEGMENT_MAX ? p->fresh : TIME_SEGMENT_MAX);
	if (time_is_small(time, p))
		time->bits |= TIME_PARTIAL;
	time->asked_low_us = (uint32_t)time->elapsed_us;
}

/* Payload bytes of `sender` that `receiver` has not acknowledged yet, 0 if either is unknown. */
static uint32_t
time_flight(const struct tcp_endpoint *sender, const struct tcp_endpoint *receiver)
{
	uint32_t flight = sender->nxt - receiver->last_ack_sent;

	if (sender->segments_sent == 0 || receiver->segments_sent == 0 || flight >= 1u << 30)
		return 0;
	return flight - (flight != 0 && (sender->flags & TCP_EP_FIN_SENT) != 0);
}

/* Whether the window of the receiver has no space for `segment` more bytes.  Without its SYN the shift is unknown. */
static bool
time_window_is_full(const struct tcp_endpoint *receiver, uint32_t flight, uint32_t segment)
{
	return (receiver->flags & TCP_EP_ISS_KNOWN) != 0 && flight + segment > receiver->wnd;
}

/* All that was resent is acknowledged: sooner than a copy could be, or with D-SACK.  The first copy was not lost, and
 * the wait goes on. */
static void
time_take_back(struct flow_time *time, const struct time_packet *p)
{
	uint32_t rtt_us = time_round_trip_us(time, p->sender);
	uint64_t path_us = rtt_us < time->us[WAIT_PATH] ? rtt_us : time->us[WAIT_PATH];

	if (time->doubt_lost_us == 0 || ((time->bits & TIME_DOUBT_END) != 0) == (p->sender != 0) ||
	    (!p->needless && time->pending_us + rtt_us / 8 >= rtt_us))
		return;
	if ((time->bits & TIME_DOUBT_PATH) == 0)
		path_us = 0;
	time->us[WAIT_LOST + (1 - p->sender)] -= time->doubt_lost_us;
	time->us[WAIT_PATH] -= path_us;
	time->pending_us += time->doubt_lost_us + path_us;
	time->doubt_lost_us = 0;
}

/* The packet acknowledges payload, or changes the window, for which its receiver waits. */
static void
time_take_ack(struct flow_time *time, const struct time_packet *p, uint32_t flight)
{
	unsigned end = 1 - p->sender;

	if (flight == 0) {
		time_take_back(time, p);
		time->bits |= TIME_DRAINED;
	}
	if (p->from->wnd == 0 && (p->flags & TCP_RST) == 0)
		time->bits |= TIME_FULL;
	if ((time->bits & TIME_FULL) != 0 &&
	    time_window_is_full(p->from, flight, (time->bits & TIME_PARTIAL) != 0 ? 1 : time->segment_max[end]))
		time->ack_us = 0;
	else
		time->ack_us = time->pending_us != 0 ? time_saturate(time->pending_us) : 1;
}

static void
time_take_flights(struct flow_time *time, const struct time_packet *p)
{
	unsigned sender = p->sender, receiver = 1 - sender;
	uint32_t flight = time_flight(p->to, p->from);

	time->bits &= ~(uint32_t)TIME_LOADED;
	if (time->flight[receiver] > time->flight_max[receiver] / 2)
		time->bits |= TIME_LOADED;
	if (time_has_turn(time, receiver) && (flight < time->flight[receiver] || (time->bits & TIME_FULL) != 0))
		time_take_ack(time, p, flight);
	time->flight[receiver] = flight;
	time->flight[sender] = flight = time_flight(p->from, p->to);
	if (flight > time->flight_max[sender])
		time->flight_max[sender] = flight;
	if (p->fresh != 0 &&
	    time_window_is_full(p->to, flight, (time->bits & TIME_PARTIAL) != 0 ? 1 : time->segment_max[sender]))
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
	time->bits |= (uint32_t)(TIME_CLOSED | (p->sender != 0 ? TIME_CLOSER : 0) |
				 ((p->flags & TCP_RST) != 0 ? TIME_CLOSED_BY_RST : 0));
	if (time_nobody_has_turn(time) || (p->fresh != 0 && !time_has_turn(time, p->sender)))
		return;
	time->open_us = ((uint32_t)time->elapsed_us - time->asked_low_us) | 1;
	time->bits |= (uint32_t)(time_has_turn(time, 1) ? TIME_ASKER : 0);
}

static bool
time_begins_closing(const struct flow_time *time, const struct time_packet *p)
{
	return (p->flags & (TCP_FIN | TCP_RST)) != 0 && !time_only_asks(time, p);
}

static void
time_take_first(struct flow_time *time, const struct time_packet *p)
{
	bool answers = (p->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK);

	time->bits |= (uint32_t)((p->sender != 0) != answers ? TIME_OPENER : 0);
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
	if (p->from != NULL && (p->flags & TCP_ACK) != 0) {
		if (p->to->segments_sent == 0)
			time->bits |= TIME_ONE_WAY;
		else
			time->bits &= ~(uint32_t)TIME_ONE_WAY;
	}
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
		time_take_turn(time, p);
	if (p->resent && time_has_turn(time, p->sender))
		time->bits |= TIME_RESENT;
	else if (!time_has_turn(time, p->sender) || p->fresh != 0)
		time->bits &= ~(uint32_t)TIME_RESENT;
	if (p->resent && p->fresh != 0)
		time->missing_resent[p->sender]++;
	if (p->from != NULL && (time->bits & TIME_CONNECT) == 0)
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
	if ((time->bits & TIME_LOADED) != 0) {
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
