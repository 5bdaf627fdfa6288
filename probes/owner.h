/* SPDX-License-Identifier: BSD-2-Clause */
/* Owner of an endpoint of this host and the kernel's own data about it: reported in csinfo_t, sockinfo_t and tcpsinfo_t
 * if the daemon has found it.  Plain data, filled by owner. */
#ifndef NETOBS_PROBES_OWNER_H
#define NETOBS_PROBES_OWNER_H

#include <stdint.h>
#include <string.h>

#include "flow/flow.h"

/* Key of an endpoint's socket: local and remote address and port.  No padding: keys are compared as bytes. */
struct owner_key {
	uint8_t local[16]; /* network order; IPv4 in the first four bytes, the rest zero */
	uint8_t remote[16];
	uint16_t local_port; /* host order */
	uint16_t remote_port;
	uint8_t protocol; /* 6 or 17 */
	uint8_t version;  /* 4 or 6 */
	uint16_t padding; /* always 0 */
};

_Static_assert(sizeof(struct owner_key) == 40, "the key has no padding");

#define OWNER_UID_UNKNOWN UINT32_MAX

enum owner_flag {
	OWNER_TCP = 0x01,	/* `tcp` holds the kernel's data */
	OWNER_LISTENER = 0x02,	/* no process has accepted the connection yet; pid and uid are the listener's */
	OWNER_CLOSED = 0x04,	/* the process has closed the socket or exited; it was the last owner */
	OWNER_HIDDEN = 0x08,	/* pid is -1, and netobsd has no permission to examine some processes */
	OWNER_NOT_FOUND = 0x10, /* pid is -1, and a scan of all processes has not found the socket */
};

/* The kernel's tcp_info (TCP_INFO of tcp(7)) in the units of tcpsinfo_t. */
struct owner_tcp {
	uint32_t cwnd;	   /* congestion window, bytes */
	uint32_t ssthresh; /* slow start threshold, bytes; 0: none yet */
	uint32_t rtt_us;   /* smoothed round trip time; 0: none measured */
	uint32_t rttvar_us;
	uint32_t rto_us;
	uint32_t mss; /* payload bytes of the largest segment it sends */
};

struct owner {
	uint64_t queried_ns; /* time when the kernel was queried, ns since the epoch */
	uint64_t netns;	     /* inode of the socket's network namespace */
	int32_t pid;	     /* in the pid namespace of netobsd's /proc; -1 unknown */
	uint32_t uid;	     /* OWNER_UID_UNKNOWN: unknown */
	uint32_t flags;	     /* enum owner_flag */
	struct owner_tcp tcp;
	char comm[16]; /* "" if pid is -1.  The process chooses the bytes: escape them when printing */
};

/* The key of one end of a flow. */
static inline void
owner_key_from_flow(struct owner_key *key, const struct flow_key *flow, unsigned endpoint)
{
	memcpy(key->local, flow->addr[endpoint], sizeof key->local);
	memcpy(key->remote, flow->addr[endpoint ^ 1], sizeof key->remote);
	key->local_port = flow->port[endpoint];
	key->remote_port = flow->port[endpoint ^ 1];
	key->protocol = flow->protocol;
	key->version = flow->version;
	key->padding = 0;
}

#endif
