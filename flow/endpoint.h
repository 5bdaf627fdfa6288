/* SPDX-License-Identifier: BSD-2-Clause */
/* Per-endpoint connection state, as a protocol control block holds it. */
#ifndef NETOBS_FLOW_ENDPOINT_H
#define NETOBS_FLOW_ENDPOINT_H

#include <stdint.h>

/* RFC 9293 section 3.3.2 with the numbers of Linux (include/net/tcp_states.h).  The numbers are part of the
 * contract. */
enum tcp_state {
	TCP_STATE_NONE, /* unknown: no packet has proved yet that a socket exists */
	TCP_STATE_ESTABLISHED,
	TCP_STATE_SYN_SENT,
	TCP_STATE_SYN_RECEIVED,
	TCP_STATE_FIN_WAIT_1,
	TCP_STATE_FIN_WAIT_2,
	TCP_STATE_TIME_WAIT,
	TCP_STATE_CLOSED,
	TCP_STATE_CLOSE_WAIT,
	TCP_STATE_LAST_ACK,
	TCP_STATE_LISTEN,
	TCP_STATE_CLOSING,
	TCP_STATE_COUNT
};

enum tcp_endpoint_flag {
	TCP_EP_ACTIVE_OPEN = 0x01,	  /* sent the first SYN */
	TCP_EP_ISS_KNOWN = 0x02,	  /* iss is valid: its SYN was captured */
	TCP_EP_SEQ_KNOWN = 0x04,	  /* has sent a segment with a sequence number: nxt and una are valid */
	TCP_EP_FIN_SENT = 0x08,		  /* has sent its FIN; nxt counts it */
	TCP_EP_WSCALE_OFFERED = 0x10,	  /* offered window scaling */
	TCP_EP_RTT_PENDING = 0x20,	  /* rtt_seq is being timed */
	TCP_EP_LAST_RETRANSMITTED = 0x40, /* its last segment was a retransmission */
	TCP_EP_SACK_OFFERED = 0x80,	  /* offered SACK permitted */
};

/* What keeps the segments of this endpoint off the fast path.  The low bits count consecutive duplicate ACKs
 * received. */
enum tcp_slow_reason {
	TCP_SLOW_DUPACKS = 0x03,      /* count, saturating; used only if SACK is not in use */
	TCP_SLOW_SYN_ACK_DEFERRED = 0x08, /* in SYN_SENT: a SYN,ACK that it may refuse (flow/tcp/tcp_internal.h) */
	TCP_SLOW_FIN_ACK_DEFERRED = 0x08, /* in FIN_WAIT_1: an ACK of its FIN after data that may reset it */
	TCP_SLOW_ACK_DEFERRED = 0x08, /* in SYN_RECEIVED: an ACK of its SYN,ACK that it may drop */
	TCP_SLOW_FIN_DEFERRED = 0x10, /* a captured FIN may not have reached it yet */
	TCP_SLOW_RST_DEFERRED = 0x20, /* a captured RST may not have reached it yet */
	TCP_SLOW_LOSS = 0x40,	      /* there is a loss to follow (flow/tcp/tcp_internal.h) */
	TCP_SLOW_DUPLICATE = 0x80,    /* its last segment was a duplicate */
	TCP_SLOW_UNDECIDED = 0x04,    /* a SYN (flow/tcp/tcp_pools.h) or its FIN (fin_unproven) may have been ignored */
};

/*
 * 64 bytes: one cache line.  Sequence numbers are absolute and in host order.  Fields ending in _us are packet time in
 * microseconds modulo 2^32.
 */
struct tcp_endpoint {
	uint8_t state;		/* enum tcp_state */
	uint8_t slow_reasons;	/* enum tcp_slow_reason with the count of duplicate ACKs; 0 on the fast path */
	uint8_t flags;		/* enum tcp_endpoint_flag */
	uint8_t wscale : 4;	/* shift of the windows it advertises; 0 until both endpoints offered scaling */
	uint8_t retransmitted : 1; /* has sent sequence space again (tcp_retransmits() has the number) */
	uint8_t fin_unproven : 1; /* it sent a FIN at nxt with an ACK of bytes that its peer was not captured sending */
	uint8_t resyncs : 2;	/* number, modulo 4, of times that rcv_nxt was taken anew */
	uint32_t iss;		/* initial send sequence number; mid-stream, one less than the first one captured */
	uint32_t una;		/* oldest unacknowledged sequence number it sent (SND.UNA) */
	uint32_t nxt;		/* highest sequence number sent, plus one (SND.NXT) */
	uint32_t rcv_nxt;	/* next sequence number expected from the peer, in order (RCV.NXT) */
	uint32_t last_ack_sent;	/* last acknowledgement number it sent */
	uint32_t wnd;		/* window it last advertised, in bytes, scaled */
	uint32_t srtt_us;	/* smoothed round-trip time of RFC 6298, microseconds, 0 unknown */
	uint32_t rttvar_us;	/* round-trip time variation of RFC 6298, microseconds */
	uint32_t log_tail;	/* latest entry of this endpoint in the send log (flow/tcp/tcp_pools.h), 0 none */
	union {
		struct {
			uint32_t rtt_seq; /* an ACK beyond this completes the round trip sample */
			uint32_t rtt_us;  /* start of that sample */
		};
		uint64_t wait_until; /* end of TIME_WAIT, or of the wait of a deferred input, ns */
	};
	uint32_t segments_sent;
	uint32_t ts_recent;   /* latest timestamp accepted from the peer (TS.Recent of RFC 7323), 0 unknown */
	uint64_t bytes;	      /* payload bytes captured, without retransmissions; until the first segment is captured:
			       * end of the bytes that the peer has acknowledged, as an offset in the stream */
};

_Static_assert(sizeof(struct tcp_endpoint) == 64, "a TCP endpoint is one cache line");

struct udp_endpoint {
	uint64_t bytes;	    /* payload bytes sent */
	uint64_t datagrams; /* datagrams sent */
};

/* RFC 9260 section 4, numbered as Linux numbers them (enum sctp_sstat_state of <linux/sctp.h>). */
enum sctp_state {
	SCTP_STATE_NONE, /* unknown: no packet has proved yet that an association exists */
	SCTP_STATE_CLOSED,
	SCTP_STATE_COOKIE_WAIT,
	SCTP_STATE_COOKIE_ECHOED,
	SCTP_STATE_ESTABLISHED,
	SCTP_STATE_SHUTDOWN_PENDING,
	SCTP_STATE_SHUTDOWN_SENT,
	SCTP_STATE_SHUTDOWN_RECEIVED,
	SCTP_STATE_SHUTDOWN_ACK_SENT,
	SCTP_STATE_COUNT
};

enum sctp_endpoint_flag {
	SCTP_EP_ACTIVE_OPEN = 0x01,   /* sent the first INIT */
	SCTP_EP_INIT_SEEN = 0x02,     /* its INIT or INIT ACK was captured: addresses, streams and initial TSN are
				       * known */
	SCTP_EP_TSN_KNOWN = 0x04,     /* next_tsn is valid */
	SCTP_EP_CUM_ACK_KNOWN = 0x08, /* cum_tsn_ack is valid */
	SCTP_EP_ADDR_DROPPED = 0x10,  /* an address was dropped because the endpoint had no address record */
};

/* 56 bytes.  Transmission sequence numbers are absolute, in host order. */
struct sctp_endpoint {
	uint8_t state;		   /* enum sctp_state */
	uint8_t flags;		   /* enum sctp_endpoint_flag */
	uint8_t foreign_tag_count; /* consecutive packets with the tag `foreign_tag` */
	uint8_t spare;
	uint32_t tag;			  /* verification tag that packets to it carry, 0 unknown */
	uint32_t pending_tag;		  /* tag of an INIT or INIT ACK of this endpoint that the peer has not used yet,
					   * 0 none */
	uint32_t foreign_tag;		  /* tag of the last packet to it that matched neither tag */
	uint32_t addr_index;		  /* index of its address record (flow/sctp/sctp_internal.h), 0 none */
	uint32_t next_tsn;		  /* TSN of the next DATA chunk it will send */
	uint32_t cum_tsn_ack;		  /* cumulative TSN ack it last sent */
	uint32_t rwnd;			  /* receiver window it last advertised, bytes */
	uint16_t streams_out, streams_in; /* as offered in its INIT or INIT ACK */
	uint32_t packets;		  /* packets that it sent */
	uint32_t chunks;		  /* DATA chunks that it sent */
	uint32_t retransmits;		  /* of these, chunks that repeat a TSN */
	uint64_t bytes;			  /* user data bytes sent, without retransmissions */
};

_Static_assert(sizeof(struct sctp_endpoint) <= 64, "an SCTP endpoint is at most one cache line");

#endif
