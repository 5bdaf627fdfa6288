/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals over the connections of a flow table, counted while records are kept (flow/record/flow_record.h): 64-bit
 * counters that only the thread of the table writes. */
#ifndef NETOBS_FLOW_RECORD_RECORD_TOTALS_H
#define NETOBS_FLOW_RECORD_RECORD_TOTALS_H

#include "flow/event.h"
#include "flow/flow.h"

/* Why a connection has ended. */
enum record_reason {
	RECORD_OPEN,		/* it has not */
	RECORD_FIN,		/* both ends have closed in order */
	RECORD_RESET_BY_CLIENT,
	RECORD_RESET_BY_SERVER,
	RECORD_REFUSED,		/* the attempt was answered with RST, or ABORT for SCTP */
	RECORD_UNREACHABLE,	/* the attempt was answered with an ICMP error */
	RECORD_NO_ANSWER,	/* the attempt was never answered */
	RECORD_IDLE,		/* an idle timeout ended it, or its ends have begun another connection */
	RECORD_EVICTED,		/* its flow was evicted: the table was full */
	RECORD_CAPTURE_END,	/* the capture has ended */
	RECORD_REASON_COUNT
};

/* Word of a reason, as in cr_reason: "reset-by-client"; constant. */
const char *record_reason_name(enum record_reason reason);

#define RECORD_FLOW_KINDS (FLOW_SCTP + 1)
#define RECORD_BUCKETS 16u

/* Upper bounds of the buckets, inclusive, ascending, microseconds: 100 us to 10 s; the last is no bound. */
extern const uint32_t record_bucket_bounds_us[RECORD_BUCKETS + 1];

struct record_histogram {
	uint64_t count[RECORD_BUCKETS + 1]; /* not cumulative; the last bucket has no bound */
	uint64_t sum_us;
};

struct record_totals {
	uint64_t ended[RECORD_FLOW_KINDS][RECORD_REASON_COUNT]; /* by enum flow_kind; RECORD_OPEN: reports of open
								 * connections */
	uint64_t resets[2][TCP_STATE_COUNT];	/* TCP connections reset by the client, by the server; by the state of
						 * that end before; without refused attempts */
	uint64_t resent[RETRANSMIT_SYN + 1];	/* TCP segments that repeat sequence space, by enum
						 * tcp_retransmit_kind */
	uint64_t out_of_order;			/* TCP segments captured after segments that were sent later */
	uint64_t zero_windows[2];		/* times that a client, a server has closed its window */
	struct record_histogram handshake, rtt, answer;
};

/* Number of samples of a histogram. */
static inline uint64_t
record_histogram_samples(const struct record_histogram *histogram)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i <= RECORD_BUCKETS; i++)
		samples += histogram->count[i];
	return samples;
}

#endif
