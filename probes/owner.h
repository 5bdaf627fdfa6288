/* SPDX-License-Identifier: BSD-2-Clause */
/* Who owns an endpoint of this host and what the kernel itself says of it: what csinfo_t, sockinfo_t and tcpsinfo_t
 * tell where the daemon could find out.  Plain data; daemon/owner/owner_lookup.h is where they come from. */
#ifndef NETOBS_PROBES_OWNER_H
#define NETOBS_PROBES_OWNER_H

#include <stdint.h>
#include <string.h>

#include "flow/flow.h"

/* An endpoint as its socket is called: local and remote end.  No padding: compared as bytes. */
struct owner_key {
	uint8_t local[16];  /* network order; IPv4 in the first four bytes, the rest zero */
	uint8_t remote[16];
	uint16_t local_port; /* host order */
	uint16_t remote_port;
	uint8_t protocol; /* 6 or 17 */
	uint8_t version;  /* 4 or 6 */
	uint16_t zero;	  /* 0 */
};

_Static_assert(sizeof(struct owner_key) == 40, "the key has no padding");

#define OWNER_UID_UNKNOWN UINT32_MAX

enum owner_flag {
	OWNER_TCP = 0x01,      /* `tcp` holds what the kernel told */
	OWNER_LISTENER = 0x02, /* no process has accepted the connection yet; pid and uid are the listener's */
	OWNER_CLOSED = 0x04,   /* the process has closed the socket, or ended: it was the last owner */
	OWNER_HIDDEN = 0x08,   /* pid is -1, and there are processes that netobsd may not look into */
};

/* The kernel's tcp_info (TCP_INFO of tcp(7)) in the units of tcpsinfo_t. */
struct owner_tcp {
	uint32_t cwnd;	   /* congestion window, bytes */
	uint32_t ssthresh; /* slow start threshold, bytes; 0: none yet */
	uint32_t rtt_us;   /* smoothed round trip time; 0: none measured */
	uint32_t rttvar_us;
	uint32_t rto_us;
	uint32_t mss;	   /* payload bytes of the largest segment it sends */
	uint32_t retransmits; /* segments sent again, since the connection began */
};

struct owner {
	uint64_t asked_ns; /* when the kernel was asked, ns since the epoch: the answer is as old as that */
	uint64_t zone;	   /* inode of the socket's network namespace */
	int32_t pid;	   /* as netobsd's own /proc calls it; -1 unknown */
	uint32_t uid;	   /* OWNER_UID_UNKNOWN: unknown */
	uint32_t flags;	   /* enum owner_flag */
	struct owner_tcp tcp;
	char comm[16]; /* "" where pid is -1.  Whatever bytes the process chose: escape them in print */
};

/* The key of one end of a flow. */
static inline void
owner_key_of(struct owner_key *key, const struct flow_key *flow, unsigned end)
{
	memcpy(key->local, flow->addr[end], sizeof key->local);
	memcpy(key->remote, flow->addr[end ^ 1], sizeof key->remote);
	key->local_port = flow->port[end];
	key->remote_port = flow->port[end ^ 1];
	key->protocol = flow->protocol;
	key->version = flow->version;
	key->zero = 0;
}

#endif
