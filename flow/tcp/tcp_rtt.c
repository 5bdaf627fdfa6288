/* SPDX-License-Identifier: BSD-2-Clause */
/* Round trips and the retransmission timeout (RFC 6298), as a sender at the capture point would compute them. */
#include "flow/tcp/tcp_segment.h"

#define INITIAL_RTO_US 1000000u
#define LEAST_VARIATION_US 200000u /* TCP_RTO_MIN: Linux uses at least this for 4 * RTTVAR */
#define LONGEST_RTO_US 120000000u

uint32_t
tcp_rto_us(const struct tcp_end *end)
{
	uint64_t variation = 4ull * end->rttvar_us, rto;

	if (end->srtt_us == 0)
		return INITIAL_RTO_US;
	rto = end->srtt_us + (variation < LEAST_VARIATION_US ? LEAST_VARIATION_US : variation);
	return rto > LONGEST_RTO_US ? LONGEST_RTO_US : (uint32_t)rto;
}
