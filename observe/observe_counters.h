/* SPDX-License-Identifier: BSD-2-Clause */
/* What an observer counts. */
#ifndef NETOBS_OBSERVE_OBSERVE_COUNTERS_H
#define NETOBS_OBSERVE_OBSERVE_COUNTERS_H

#include <stdint.h>

#include "dissect/anomaly.h"
#include "flow/tcp/tcp.h"

struct observe_counters {
	uint64_t frames;
	uint64_t bytes;		      /* bytes on the wire */
	uint64_t packets;	      /* IP and ARP packets, inner ones included */
	uint64_t tcp_segments;	      /* of these, TCP segments */
	uint64_t truncated;	      /* packets truncated by the snapshot length */
	uint64_t closed_tunnels;      /* packets of tunnels that are not unpacked, UDP ones not included */
	uint64_t loopback_duplicates; /* outgoing copies of loopback frames, skipped */
	uint64_t lower_duplicates;    /* duplicates of lower devices, skipped */
	uint64_t backward_frames;     /* frames older than a frame before them */
	uint64_t clock_steps;	      /* steps of the capturing host's clock */
	uint64_t stray_stamps;	      /* frames whose time stamps were ignored */
	uint64_t lag_us;	      /* live: how far observation is behind the traffic (batch_times.h) */
	uint64_t anomalies[ANOMALY_COUNT];
	uint64_t retransmissions[RETRANSMIT_SYN + 1]; /* by enum tcp_retransmit_kind */
};

#endif
