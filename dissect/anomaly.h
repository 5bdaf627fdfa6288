/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of anomalies: enum, counter, pkt_reason word and manual entry, all made from dissect/anomaly.def. */
#ifndef NETOBS_DISSECT_ANOMALY_H
#define NETOBS_DISSECT_ANOMALY_H

#include <stdbool.h>
#include <stdint.h>

enum anomaly {
	ANOMALY_NONE,
#define ANOMALY(symbol, word, severity, text) ANOMALY_##symbol,
#include "dissect/anomaly.def"
#undef ANOMALY
	ANOMALY_COUNT
};

/* In rising order.  The reason of a packet is its most severe anomaly, the first one among equals. */
enum severity {
	SEVERITY_UNUSUAL,   /* not what is expected, and fully understood */
	SEVERITY_TRUNCATED, /* the capture ends before the packet does */
	SEVERITY_DROP,	    /* IP itself would discard the packet */
	SEVERITY_MALFORMED, /* the bytes contradict themselves: dissection ends at this layer */
};

struct anomaly_set {
	uint64_t bits[3];
};

_Static_assert(ANOMALY_COUNT <= 192, "anomaly_set is too small");

static inline void
anomaly_add(struct anomaly_set *set, enum anomaly a)
{
	set->bits[(unsigned)a / 64] |= 1ull << ((unsigned)a % 64);
}

static inline bool
anomaly_has(const struct anomaly_set *set, enum anomaly a)
{
	return (set->bits[(unsigned)a / 64] >> ((unsigned)a % 64) & 1) != 0;
}

/* The word of an anomaly, as in pkt_reason: lower case, at most 31 characters, "" for ANOMALY_NONE.  Constant. */
const char *anomaly_name(enum anomaly a);

enum severity anomaly_severity(enum anomaly a);

#endif
