/* SPDX-License-Identifier: BSD-2-Clause */
/* Round trips and the retransmission timeout (RFC 6298), as a sender at the capture point would compute them. */
#include "flow/tcp/tcp_segment.h"

#define INITIAL_RTO_US 1000000u
#define TCP_RTO_VARIANCE_MIN_US 200000u /* TCP_RTO_MIN: Linux uses at least this for 4 * RTTVAR */
#define TCP_RTO_MAX_US 120000000u

uint32_t
tcp_rto_us(const struct tcp_endpoint *endpoint)
{
	uint64_t variation = 4ull * endpoint->rttvar_us, rto;

	if (endpoint->srtt_us == 0)
		return INITIAL_RTO_US;
	rto = endpoint->srtt_us + (variation < TCP_RTO_VARIANCE_MIN_US ? TCP_RTO_VARIANCE_MIN_US : variation);
	return rto > TCP_RTO_MAX_US ? TCP_RTO_MAX_US : (uint32_t)rto;
}
