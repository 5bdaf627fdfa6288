/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retransmission analysis: what was sent again, why, and what that tells of the sender's congestion window.
 *
 * An endpoint has a detail only while there is something to watch (TCP_TROUBLE_LOSS) and for what is worth keeping
 * afterwards; without one it is in the open state with nothing SACKed.
 */
#ifndef NETOBS_FLOW_TCP_TCP_LOSS_H
#define NETOBS_FLOW_TCP_TCP_LOSS_H

#include "flow/tcp/tcp_segment.h"

/* What the sender is doing, as Linux names its congestion states. */
enum loss_mode {
	LOSS_MODE_OPEN,
	LOSS_MODE_RECOVERY, /* fast recovery: SACK or duplicate ACKs told of a loss */
	LOSS_MODE_LOSS,	    /* the retransmission timer ran out: everything outstanding may be lost */
};

struct sequence_range {
	uint32_t begin, end;
};

#define LOSS_SACKED_MAX 8
#define LOSS_MISSED_MAX 4

/* One endpoint as a sender, but for sack_edge. */
struct tcp_loss {
	uint8_t mode;	       /* enum loss_mode */
	uint8_t sacked_count;
	uint8_t missed_count;
	bool probed;	       /* a tail-loss probe is out that nothing has answered */
	bool delivered_known;  /* delivered_us is set */
	bool edge_known;       /* its last ACK had SACK blocks, and sack_edge is their right end */
	bool fin_waits;	       /* fin_tsval and fin_tsecr are set */
	bool frto;	       /* only the first segment was sent again since the timer ran out (RFC 5682) */
	uint32_t recover;      /* the mode ends when this is acknowledged */
	uint32_t next;	       /* end of what was sent again last in this mode */
	uint32_t ack_us;       /* when the last ACK came in */
	uint32_t delivered_us; /* latest time at which anything that has arrived was sent (RACK, RFC 8985) */
	uint32_t timer_us;     /* when the retransmission timer ran out last */
	uint32_t ssthresh;
	uint32_t cwnd;
	uint32_t probe_end;    /* probed: end of the probe */
	uint32_t first_tsval;  /* TSval of what was sent again first in this mode (Eifel, RFC 3522) */
	uint32_t again_end;    /* the latest retransmission with a timestamp: end, TSval and time, 0 none */
	uint32_t again_tsval;
	uint32_t again_us;
	uint32_t sack_edge;
	uint32_t fin_tsval;    /* timestamps of a FIN that waits to be shown */
	uint32_t fin_tsecr;
	struct sequence_range sacked[LOSS_SACKED_MAX]; /* by the peer, rising and apart; all beyond una */
	struct sequence_range missed[LOSS_MISSED_MAX]; /* never seen sent: the capture lost or reordered it */
	uint32_t missed_us[LOSS_MISSED_MAX];
};

struct loss_detail {
	struct flow *owner;
	uint32_t next_spare; /* while it has no owner */
	struct tcp_loss end[2];
};

/* The segment in `step` sends [seq, end) of which at least the beginning had been sent before. */
void tcp_loss_sent_again(struct tcp_step *step, uint32_t seq, uint32_t end);

/* The endpoint's sequence numbers have jumped: [from, to) was not seen. */
void tcp_loss_missed(struct tcp_step *step, uint32_t from, uint32_t to);

enum loss_fill {
	LOSS_FILLS_NOTHING,
	LOSS_FILLS_REORDERED, /* what was not seen, only a little late: it is sent for the first time */
	LOSS_FILLS_LATE,      /* what was not seen, so late that it must have been sent before */
};

/* What [seq, end), which begins below what was sent last, is to what was not seen. */
enum loss_fill tcp_loss_fill(struct tcp_step *step, uint32_t seq, uint32_t end);

/* Whether SACK blocks or duplicate ACKs say that something from `seq` on was lost. */
bool tcp_loss_evidence(const struct tcp_end *e, const struct tcp_loss *loss, uint32_t seq);

/* Whether all of [seq, end) was SACKed. */
bool tcp_loss_is_sacked(const struct tcp_loss *loss, uint32_t seq, uint32_t end);

/* The endpoint has received an ACK; `una` is what was acknowledged before. */
void tcp_loss_acked(struct tcp_step *step, uint32_t una);

/* The FIN in `step` waits to be shown by the endpoint. */
void tcp_loss_fin_waits(struct tcp_step *step);

/* It waits no longer. */
void tcp_loss_fin_is_over(struct flow_table *table, struct flow *flow, unsigned end);

/* Whether the endpoint may have had that FIN and the ACK in `step` as one segment: Linux melts what waits for a busy
 * socket where the options agree (tcp_add_to_backlog). */
bool tcp_loss_melts_with_fin(const struct tcp_step *step);

/* The endpoint has sent an ACK: remembers the SACK blocks that it told. */
void tcp_loss_sacked(struct tcp_step *step);

/* The right end of the SACK blocks in its last ACK; false if there were none. */
bool tcp_loss_sack_edge(const struct tcp_step *step, uint32_t *edge);

#endif
