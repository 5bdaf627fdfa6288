/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of the TCP machine outside the flows, reserved with the table.
 *
 * The send log: one ring for all connections, 16 bytes for each segment that sent sequence space, linked per endpoint
 * from newest to oldest.  The fast path only appends, sequentially.  The log is read when something is retransmitted:
 * when was it last sent, and how often?  Overwritten entries count as not captured.
 *
 * The numbers of retransmissions: 8 bytes for each flow, of which no page is in use before a flow on it retransmits.
 *
 * The pending SYNs: SYNs that their receivers ignored, until the answer shows whether they did.  A new one may replace
 * another; the new connection of that one then begins in mid-stream.
 *
 * The holes: 16 bytes for each range of sequence numbers that was not captured, in a list per endpoint that has some,
 * in ascending order (flow/tcp/tcp_holes.c).  If all lists are in use the one that was allocated first is evicted.
 *
 * The pool of loss pairs: memory for flows with a recent loss.  If all are in use the loss pair that was allocated
 * first is evicted; its flow then loses evidence for a more precise classification.
 */
#ifndef NETOBS_FLOW_TCP_TCP_POOLS_H
#define NETOBS_FLOW_TCP_TCP_POOLS_H

#include "flow/flow_internal.h"

/* An index is lap << n | position: 31 bits, never 0.  Not every position of n bits is in the ring, so appending skips
 * to the next lap at the end of the ring.  An entry is valid while its index is at most 2^n below the newest. */
#define SEND_LOG_INDEX_MASK 0x7fffffffu

struct send_log_entry {
	uint32_t seq;			 /* sequence range sent */
	uint16_t len;
	uint16_t stamp;			 /* send stamp (packet_send_stamp()) */
	uint32_t us;			 /* time sent */
	uint32_t prev_and_retransmitted; /* index of the endpoint's previous entry << 1 | not in ascending order */
};

#define SEND_LOG_LEN_MAX 0xffffu

_Static_assert(sizeof(struct send_log_entry) == 16, "four log entries share a cache line");

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
	bool refuted;	   /* its peer has sent segments since, and no segment after such a number */
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

/* Sequence numbers that the endpoint went past without being captured. */
struct tcp_hole {
	uint32_t begin, end_seq;
	uint32_t us;   /* when the first data above was captured */
	uint32_t next; /* number of the endpoint's next hole, or of the next free one: index + 1, 0 none */
};

_Static_assert(sizeof(struct tcp_hole) == 16, "four holes share a cache line");

/* What an endpoint has sent below SND.NXT, but was not captured. */
struct tcp_holes {
	uint32_t owner;	     /* number of the endpoint that has the list, or of the next free list, 0 none */
	uint32_t head, tail; /* numbers of the first and last hole, 0 none */
	uint32_t bytes;	     /* in the holes of the list */
	uint32_t forgotten;  /* bytes of holes that are not in the list, all below `floor` */
	uint32_t floor;	     /* valid if there are such */
	uint32_t base;	     /* in mid-stream: the first byte captured; valid if has_base */
	uint16_t count;
	bool has_base;
};

_Static_assert(sizeof(struct tcp_holes) == 32, "two lists of holes share a cache line");

#define PENDING_SYNS 256u

/* A SYN or SYN,ACK of another incarnation than the flow's. */
struct pending_syn {
	const struct flow *flow; /* NULL: not in use */
	uint64_t serial;	 /* of the flow */
	uint64_t ts;		 /* when it was captured, ns */
	uint32_t reply_segments; /* segments that the receiver had sent by then */
	uint32_t payload_len;
	uint32_t wire; /* length of its frame */
	unsigned sender;
	struct tcp_layer header;
};

struct tcp_pools {
	struct send_log_entry *send_log;
	uint32_t log_entries;
	uint32_t log_mask;	/* mask of the position in an index: 2^n - 1, at least log_entries */
	uint32_t send_log_last; /* index of the newest entry */
	uint32_t search_left;	/* entries that send_log_search() may still examine for this segment and endpoint */
	struct tcp_loss_pair *loss_pairs;
	uint32_t loss_pair_count;
	uint32_t loss_high_water; /* loss pairs from here on were never used */
	uint32_t loss_free_head;  /* index + 1 of the first free loss pair below, 0 none */
	uint32_t loss_clock_hand; /* next loss pair to evict */
	uint64_t loss_evicted;	  /* loss pairs evicted so far */
	struct tcp_hole *holes;
	uint32_t hole_count;
	uint32_t hole_high_water; /* holes from here on were never used */
	uint32_t hole_free_head;  /* number of the first free hole below, 0 none */
	struct tcp_holes *hole_lists;
	uint32_t hole_list_count;
	uint32_t hole_list_high_water; /* lists from here on were never used */
	uint32_t hole_list_free_head;  /* number of the first free list below, 0 none */
	uint32_t hole_list_clock_hand; /* next list to evict */
	uint32_t flows;
	uint32_t (*retransmits)[2]; /* by flow index: segments of each end that repeat sequence space; of an endpoint
				     * that has sent none the number is not valid */
	struct pending_syn *pending_syns; /* PENDING_SYNS slots */
};

static inline struct tcp_hole *
tcp_hole_at(const struct tcp_pools *pools, uint32_t number)
{
	return &pools->holes[number - 1];
}

static inline struct tcp_holes *
tcp_holes_at(const struct tcp_pools *pools, uint32_t number)
{
	return &pools->hole_lists[number - 1];
}

/* Index of the next entry.  The unused positions of a lap ensure that an overflow of 31 bits occurs only here. */
static inline uint32_t
send_log_next_index(const struct tcp_pools *pools)
{
	uint32_t index = pools->send_log_last + 1;

	if (__builtin_expect((index & pools->log_mask) >= pools->log_entries, 0)) {
		index = ((index | pools->log_mask) + 1) & SEND_LOG_INDEX_MASK;
		index += index == 0;
	}
	return index;
}

/* One transmission.  `repeats`: it does not continue the first transmissions in ascending order. */
struct send_log_record {
	uint32_t seq, end_seq, us;
	uint16_t stamp;
	bool repeats;
};

/* Appends a transmission of at most SEND_LOG_LEN_MAX. */
static inline void
send_log_append_entry(struct tcp_pools *pools, struct tcp_endpoint *e, const struct send_log_record *record)
{
	uint32_t index = send_log_next_index(pools);
	struct send_log_entry *entry = &pools->send_log[index & pools->log_mask];

	*entry = (struct send_log_entry){.seq = record->seq,
					 .len = (uint16_t)(record->end_seq - record->seq),
					 .stamp = record->stamp,
					 .us = record->us,
					 .prev_and_retransmitted = e->log_tail << 1 | record->repeats};
	pools->send_log_last = index;
	e->log_tail = index;
}

/* Appends a super-packet that is longer than an entry can say, in several entries. */
void send_log_append_long(struct tcp_pools *pools, struct tcp_endpoint *e, struct send_log_record record);

/* Records that the endpoint has sent a range. */
static inline void
send_log_append(struct tcp_pools *pools, struct tcp_endpoint *e, const struct send_log_record *record)
{
	if (__builtin_expect(record->end_seq - record->seq > SEND_LOG_LEN_MAX, 0))
		send_log_append_long(pools, e, *record); /* by value, so that `record` needs no memory */
	else
		send_log_append_entry(pools, e, record);
}

/* The entry of an index; NULL if there is none or it has been overwritten. */
static inline const struct send_log_entry *
send_log_entry_at(const struct tcp_pools *pools, uint32_t index)
{
	if (index == 0 || ((pools->send_log_last - index) & SEND_LOG_INDEX_MASK) > pools->log_mask)
		return NULL;
	return &pools->send_log[index & pools->log_mask];
}

/* The previous entry of the same endpoint. */
static inline const struct send_log_entry *
send_log_entry_before(const struct tcp_pools *pools, const struct send_log_entry *entry)
{
	return send_log_entry_at(pools, entry->prev_and_retransmitted >> 1);
}

/* The latest transmission of the endpoint was captured at `us`, not when it was appended. */
static inline void
send_log_set_time(struct tcp_pools *pools, const struct tcp_endpoint *e, uint32_t us)
{
	if (send_log_entry_at(pools, e->log_tail) != NULL)
		pools->send_log[e->log_tail & pools->log_mask].us = us;
}

static inline bool
send_log_entry_covers(const struct send_log_entry *entry, uint32_t seq)
{
	return seq - entry->seq < entry->len;
}

/* Whether neither this entry nor any older one contains a transmission of `seq` besides this one: first transmissions
 * ascend. */
static inline bool
send_log_entry_is_last(const struct send_log_entry *entry, uint32_t seq)
{
	return (entry->prev_and_retransmitted & 1) == 0 && (int32_t)(seq - entry->seq) >= 0;
}

/* The transmissions of one sequence number, as far as the log reaches. */
struct send_log_result {
	bool found;	    /* a transmission is in the log */
	uint32_t last_us;   /* time of the last transmission */
	uint32_t first_us;  /* time of the first transmission */
	uint32_t count;	    /* number of transmissions */
	uint32_t first_seq; /* start of the segment that sent it first */
};

/* Adds a transmission, newest first. */
static inline void
send_log_result_add(struct send_log_result *result, const struct send_log_entry *entry)
{
	if (!result->found)
		result->last_us = entry->us;
	result->found = true;
	result->count++;
	result->first_us = entry->us;
	result->first_seq = entry->seq;
}

/* Most entries of an endpoint's chain that a search follows; older ones count as not captured.  A segment with several
 * SACK blocks needs several searches: all of them together follow at most SEND_LOG_SEARCHES_MAX entries. */
#define SEND_LOG_SEARCH_MAX   512
#define SEND_LOG_SEARCHES_MAX 1024

struct send_log_result send_log_search(struct tcp_pools *pools, const struct tcp_endpoint *e, uint32_t seq);

/* Counts a retransmission of an endpoint. */
void tcp_count_retransmission(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* The pending SYN of a flow; NULL if there is none, or it was replaced. */
struct pending_syn *pending_syn_find(const struct flow_table *table, const struct flow *flow);

/* Makes `syn` the pending SYN of its flow, and keeps the flow off the fast path. */
void pending_syn_store(struct flow_table *table, struct flow *flow, const struct pending_syn *syn);
void pending_syn_remove(struct flow_table *table, struct flow *flow);

/* The loss pair of a flow.  loss_pool_find() returns NULL if the flow has no pair; loss_pool_acquire() creates one. */
struct tcp_loss_pair *loss_pool_find(struct tcp_pools *pools, const struct flow_cold *cold);
struct tcp_loss_pair *loss_pool_acquire(struct flow_table *table, struct flow *flow);
void loss_pool_release(struct flow_table *table, struct flow *flow);

/* Takes the hole after `previous` (0: the first) out of the list, and returns it to the pool. */
void tcp_holes_unlink(struct tcp_pools *pools, struct tcp_holes *holes, uint32_t previous);

/* Returns the list of the sender to the pool. */
void tcp_holes_release(struct tcp_pools *pools, struct tcp_loss *loss);

#endif
