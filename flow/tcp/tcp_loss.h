/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retransmission analysis: what was retransmitted, why, and an estimate of the sender's congestion window.  A flow has
 * a loss pair only while one of its endpoints has a loss to follow (TCP_SLOW_LOSS) or a result worth keeping; the
 * endpoints of a flow without one are in the open state with nothing SACKed.
 */
#ifndef NETOBS_FLOW_TCP_TCP_LOSS_H
#define NETOBS_FLOW_TCP_TCP_LOSS_H

#include "flow/tcp/tcp_segment.h"

/* Congestion state of the sender, named as in Linux. */
enum tcp_congestion_state {
	TCP_CONGESTION_OPEN,
	TCP_CONGESTION_RECOVERY, /* fast recovery: SACK or duplicate ACKs reported a loss */
	TCP_CONGESTION_LOSS,	 /* the retransmission timer expired: everything outstanding may be lost */
};

struct tcp_seq_range {
	uint32_t begin, end_seq;
};

/* The numbers of the last segment that an endpoint ignored. */
struct tcp_ignored {
	uint32_t end_seq, ack;
	uint32_t segments; /* segments that its sender had sent by then, with this one */
	bool valid;
};

/* The last ACK number that an endpoint sent beyond what its peer was captured sending. */
struct tcp_unsent_ack {
	uint32_t ack;
	uint32_t segments; /* segments that its peer had sent by then */
	uint32_t own;	   /* segments that the endpoint had sent by then, with this one */
	bool valid;
	bool refuted;	   /* its peer has sent segments since, and none behind such a number */
};

/* What a range below SND.NXT fills. */
struct tcp_hole_overlap {
	bool known;	/* all holes at the range are known */
	uint32_t first; /* bytes from its first on that were not captured before */
	uint32_t us;	/* if there are any: when data above them was captured first, 0 unknown */
};

#define TCP_SACK_RANGES_MAX 8

/* State of one endpoint as a sender; sack_edge, fin_wait_*, `ignored`, `unsent` and the fields of a deferred FIN are
 * its state as a receiver. */
struct tcp_loss {
	uint8_t state;	       /* enum tcp_congestion_state */
	uint8_t sacked_count;
	uint16_t holes;	       /* number of its list of holes, 0 none */
	bool tlp_outstanding : 1; /* a tail-loss probe is unanswered */
	bool tlp_undecided : 1;	 /* it was a timeout unless the endpoint has such probes; valid if tlp_outstanding */
	bool tlp_proved : 1;	 /* the endpoint has sent what only a tail-loss probe can be */
	bool tlp_refuted : 1;	 /* its retransmission timer expired where a tail-loss probe was due */
	bool syn_resent : 1;	 /* its SYN was sent again */
	bool rack_valid : 1;	 /* rack_xmit_us is valid */
	bool sack_edge_valid : 1; /* its last ACK had SACK blocks; sack_edge is their right end */
	bool fin_deferred : 1;	 /* fin_tsval and fin_tsecr are valid */
	bool frto_pending : 1;	 /* only the first segment was retransmitted since the timeout (RFC 5682) */
	bool resynced : 1;	 /* its numbers were taken anew from the segment in progress */
	bool window_probed : 1;	 /* the byte at una is all that is outstanding, and probes a closed window */
	uint32_t recovery_point; /* an ACK of this sequence number ends the congestion state */
	uint32_t high_rxt;	 /* end of the last retransmission in this congestion state */
	uint32_t last_ack_us;	 /* time of the last ACK received */
	uint32_t loss_ack_us;	 /* time of the last ACK received that reported a gap, or in recovery, 0 none */
	uint32_t advance_us;	 /* time of the last ACK that advanced una, or when this state began, 0 unknown */
	uint32_t rack_xmit_us;	 /* latest transmission time of anything that has arrived (RACK, RFC 8985) */
	uint32_t last_rto_us;	 /* time of the last retransmission timeout */
	uint32_t ssthresh;
	uint32_t cwnd;
	uint32_t tlp_end_seq;	  /* end of the tail-loss probe; valid if tlp_outstanding */
	uint32_t eifel_tsval;	  /* TSval of the first retransmission in this congestion state (Eifel, RFC 3522) */
	uint32_t retrans_end_seq; /* latest retransmission with a timestamp: end, TSval and time, 0 none */
	uint32_t retrans_tsval;
	uint32_t retrans_us;
	uint32_t sack_edge;
	uint32_t fin_tsval;    /* timestamps of the deferred FIN; valid if fin_deferred */
	uint32_t fin_tsecr;
	uint32_t fin_wait_segments; /* segments sent when the data in FIN_WAIT_1 was received, 0 none */
	uint32_t fin_wait_ack;	    /* ACK number of the first such data; valid if fin_wait_segments is not 0 */
	struct tcp_ignored ignored;
	struct tcp_unsent_ack unsent;
	/* Ranges SACKed by the peer, ascending and disjoint, all beyond una. */
	struct tcp_seq_range sacked[TCP_SACK_RANGES_MAX];
};

struct tcp_loss_pair {
	struct flow *flow;  /* NULL while it is free */
	uint32_t next_free; /* index + 1 of the next free loss pair, 0 none */
	struct tcp_loss end[2];
};

/* The segment in `ctx` sends [seq, end_seq), which at least begins in sequence space sent before. */
void tcp_loss_on_retransmission(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/* Longest time in which the passive endpoint that sends its SYN,ACK again has answered the peer's first SYN, us; 0
 * unknown.  If the SYN was repeated before, its answer may be that of any. */
uint32_t tcp_syn_answer_us(const struct tcp_segment_ctx *ctx);

/* Whether the SYN,ACK sent again answers a SYN sent again: no timer has expired. */
bool tcp_syn_ack_is_answer(const struct tcp_segment_ctx *ctx);

/* The loss state of the endpoint in `ctx`; NULL if it has none. */
struct tcp_loss *tcp_loss_find(const struct tcp_segment_ctx *ctx);

/* The endpoint sends a new byte at una to probe a closed window.  A receiver that drops the byte shows no loss. */
void tcp_loss_set_window_probe(struct tcp_segment_ctx *ctx);

/* Whether the segment in `ctx`, which begins at una, sends the byte of such a probe again. */
bool tcp_loss_window_is_probed(const struct tcp_segment_ctx *ctx);

/* The endpoint sends the byte with other data: it is outstanding like any other. */
void tcp_loss_clear_window_probe(struct tcp_segment_ctx *ctx);

/* Whether SACK blocks or duplicate ACKs indicate a loss at or after `seq`. */
bool tcp_loss_is_lost(const struct tcp_endpoint *e, const struct tcp_loss *loss, uint32_t seq);

/* Whether all of [seq, end_seq) was SACKed. */
bool tcp_loss_is_sacked(const struct tcp_loss *loss, uint32_t seq, uint32_t end_seq);

/* The endpoint has received an ACK; `una` is SND.UNA before it. */
void tcp_loss_on_ack(struct tcp_segment_ctx *ctx, uint32_t una);

/* The endpoint continues at `seq`, behind a window or more that was not captured: nothing below is outstanding. */
void tcp_loss_resync(struct tcp_segment_ctx *ctx, uint32_t seq);

/* The endpoint goes on behind [begin, end_seq), which was not captured; `begin` is SND.NXT. */
void tcp_holes_add(struct tcp_segment_ctx *ctx, uint32_t begin, uint32_t end_seq);

/* What the range [seq, end_seq), which begins below SND.NXT, fills. */
struct tcp_hole_overlap tcp_holes_find(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/* The range is captured now.  Returns its bytes in holes. */
uint32_t tcp_holes_fill(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/* The send log shows that so many bytes are new, of a hole that is not in the list. */
void tcp_holes_fill_forgotten(struct tcp_segment_ctx *ctx, uint32_t bytes);

/* The endpoint begins a new stream: it has no holes. */
void tcp_holes_clear(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Returns the list of the sender to the pool. */
void tcp_holes_release(struct tcp_pools *pools, struct tcp_loss *loss);

/* Stores the timestamps of a FIN that is deferred until the endpoint acknowledges it. */
void tcp_loss_set_deferred_fin(struct flow_table *table, struct flow *flow, unsigned endpoint, uint32_t tsval,
			       uint32_t tsecr);

/* The FIN is no longer deferred. */
void tcp_loss_clear_deferred_fin(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Whether the endpoint may have received the deferred FIN and the ACK in `ctx` as one segment: Linux coalesces segments
 * for a busy socket if their options agree (tcp_add_to_backlog). */
bool tcp_loss_coalesces_with_fin(const struct tcp_segment_ctx *ctx);

/* The endpoint, in FIN_WAIT_1 or with an unproven FIN, has received new data: a closed socket answers it with a RST. */
void tcp_loss_set_unanswered_data(struct tcp_segment_ctx *ctx);

/* The endpoint is no longer in FIN_WAIT_1. */
void tcp_loss_clear_unanswered_data(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Whether the endpoint has sent nothing since such data. */
bool tcp_loss_data_is_unanswered(const struct tcp_segment_ctx *ctx);

/* Whether the RST in `ctx`, which the endpoint sends, has the number with which a closed socket answers such data: the
 * data's ACK number. */
bool tcp_loss_rst_answers_data(const struct tcp_segment_ctx *ctx);

/* The endpoint has sent an ACK: records its SACK blocks. */
void tcp_loss_on_sack_sent(struct tcp_segment_ctx *ctx);

/* Right end of the SACK blocks in the endpoint's last ACK; false if there were none. */
bool tcp_loss_sack_edge(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t *edge);

#endif
