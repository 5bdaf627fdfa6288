/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retransmission analysis: what was retransmitted, why, and an estimate of the sender's congestion window.  An endpoint
 * has a detail only while there is something to watch (TCP_TROUBLE_LOSS) or something worth keeping; an endpoint
 * without one is in the open state with nothing SACKed.
 */
#ifndef NETOBS_FLOW_TCP_TCP_LOSS_H
#define NETOBS_FLOW_TCP_TCP_LOSS_H

#include "flow/tcp/tcp_segment.h"

/* Congestion state of the sender, named as in Linux. */
enum loss_mode {
	LOSS_MODE_OPEN,
	LOSS_MODE_RECOVERY, /* fast recovery: SACK or duplicate ACKs reported a loss */
	LOSS_MODE_LOSS,	    /* the retransmission timer expired: everything outstanding may be lost */
};

struct sequence_range {
	uint32_t begin, end;
};

#define LOSS_SACKED_MAX 8
#define LOSS_MISSED_MAX 4

/* Sender state of one endpoint; sack_edge belongs to its receiver side. */
struct tcp_loss {
	uint8_t mode;	       /* enum loss_mode */
	uint8_t sacked_count;
	uint8_t missed_count;
	bool probed;	       /* a tail-loss probe is unanswered */
	bool delivered_known;  /* delivered_us is valid */
	bool edge_known;       /* its last ACK had SACK blocks; sack_edge is their right end */
	bool fin_waits;	       /* fin_tsval and fin_tsecr are valid */
	bool frto;	       /* only the first segment was retransmitted since the timeout (RFC 5682) */
	uint32_t recover;      /* an ACK of this sequence number ends the mode */
	uint32_t next;	       /* end of the last retransmission in this mode */
	uint32_t ack_us;       /* time of the last ACK received */
	uint32_t delivered_us; /* latest transmission time of anything that has arrived (RACK, RFC 8985) */
	uint32_t timer_us;     /* time of the last retransmission timeout */
	uint32_t ssthresh;
	uint32_t cwnd;
	uint32_t probe_end;    /* end of the tail-loss probe; valid if probed */
	uint32_t first_tsval;  /* TSval of the first retransmission in this mode (Eifel, RFC 3522) */
	uint32_t again_end;    /* latest retransmission with a timestamp: end, TSval and time, 0 none */
	uint32_t again_tsval;
	uint32_t again_us;
	uint32_t sack_edge;
	uint32_t fin_tsval;    /* timestamps of a FIN that waits for its receiver's acknowledgement */
	uint32_t fin_tsecr;
	struct sequence_range sacked[LOSS_SACKED_MAX]; /* ranges SACKed by the peer, ascending and disjoint, all beyond
						        * una */
	struct sequence_range missed[LOSS_MISSED_MAX]; /* ranges whose first transmission was not captured, or was
						        * reordered */
	uint32_t missed_us[LOSS_MISSED_MAX];
};

struct loss_detail {
	struct flow *owner;
	uint32_t next_spare; /* next free detail while it has no owner */
	struct tcp_loss end[2];
};

/* The segment in `step` sends [seq, end), which at least begins in sequence space sent before. */
void tcp_loss_sent_again(struct tcp_step *step, uint32_t seq, uint32_t end);

/* The endpoint's sequence numbers jumped: [from, to) was not captured. */
void tcp_loss_missed(struct tcp_step *step, uint32_t from, uint32_t to);

enum loss_fill {
	LOSS_FILLS_NOTHING,
	LOSS_FILLS_REORDERED, /* a gap, filled a little late: a first transmission */
	LOSS_FILLS_LATE,      /* a gap, filled so late that it must be a retransmission */
};

/* How [seq, end), which begins below SND.NXT, relates to the gaps in the capture. */
enum loss_fill tcp_loss_fill(struct tcp_step *step, uint32_t seq, uint32_t end);

/* Whether SACK blocks or duplicate ACKs indicate a loss at or after `seq`. */
bool tcp_loss_evidence(const struct tcp_end *e, const struct tcp_loss *loss, uint32_t seq);

/* Whether all of [seq, end) was SACKed. */
bool tcp_loss_is_sacked(const struct tcp_loss *loss, uint32_t seq, uint32_t end);

/* The endpoint has received an ACK; `una` is SND.UNA before it. */
void tcp_loss_acked(struct tcp_step *step, uint32_t una);

/* The FIN in `step` waits for the endpoint to acknowledge it. */
void tcp_loss_fin_waits(struct tcp_step *step);

/* The FIN no longer waits. */
void tcp_loss_fin_is_over(struct flow_table *table, struct flow *flow, unsigned end);

/* Whether the endpoint may have received the waiting FIN and the ACK in `step` as one segment: Linux coalesces segments
 * for a busy socket if their options agree (tcp_add_to_backlog). */
bool tcp_loss_melts_with_fin(const struct tcp_step *step);

/* The endpoint has sent an ACK: records its SACK blocks. */
void tcp_loss_sacked(struct tcp_step *step);

/* Right end of the SACK blocks in the endpoint's last ACK; false if there were none. */
bool tcp_loss_sack_edge(const struct tcp_step *step, uint32_t *edge);

#endif
