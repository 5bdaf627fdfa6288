/* SPDX-License-Identifier: BSD-2-Clause */
/* Round trips and the retransmission timeout (RFC 6298), as a sender at the place of the capture would see them. */
#include "flow/tcp_step.h"

#define INITIAL_RTO_US 1000000u
#define LEAST_VARIATION_US 200000u /* TCP_RTO_MIN: Linux never takes 4 * RTTVAR for less */
#define LONGEST_RTO_US 120000000u

/* No round trip takes longer: a stamp ran backwards, or the timed segment was forgotten. */
#define LONGEST_RTT_US 0x7fffffffu

void
rtt_sample(struct tcp_end *e, uint32_t us)
{
	uint32_t off;

	if (us > LONGEST_RTT_US)
		return;
	if (us == 0)
		us = 1; /* 0 is "unknown" */
	if (e->srtt_us == 0) {
		e->srtt_us = us;
		e->rttvar_us = us / 2;
		return;
	}
	off = us > e->srtt_us ? us - e->srtt_us : e->srtt_us - us;
	e->rttvar_us += off / 4 - e->rttvar_us / 4;
	e->srtt_us += us / 8 - e->srtt_us / 8;
	if (e->srtt_us == 0)
		e->srtt_us = 1;
}

uint32_t
tcp_rto_us(const struct tcp_end *end)
{
	uint64_t variation = 4ull * end->rttvar_us, rto;

	if (end->srtt_us == 0)
		return INITIAL_RTO_US;
	rto = end->srtt_us + (variation < LEAST_VARIATION_US ? LEAST_VARIATION_US : variation);
	return rto > LONGEST_RTO_US ? LONGEST_RTO_US : (uint32_t)rto;
}
