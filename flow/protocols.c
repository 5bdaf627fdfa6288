/* SPDX-License-Identifier: BSD-2-Clause */
/* What each protocol does when a flow of it ends; the flow table with the state of all protocols. */
#include <errno.h>
#include <stdlib.h>

#include "dissect/dissect.h"
#include "flow/memory.h"
#include "flow/table/table_internal.h"

/* Indices are 32 bits wide, and there are more slots than flows. */
#define FLOWS_MAX (1u << 30)

#define HOME_SLOTS_FIRST 64u

#define PORT_PRIVILEGED_END 1024u

/* --- what the capture lacks --- */

/* Whether TCP endpoint `endpoint` has sent what only an answer of its peer explains: ACKs of a handshake or of data, or
 * in mid-stream new data in several segments. */
static bool
uncaptured_tcp_is_answered(const struct flow *flow, unsigned endpoint)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint];

	if (flow->tcp[1 - endpoint].bytes != 0)
		return true;
	if ((e->flags & TCP_EP_ISS_KNOWN) != 0)
		return e->last_ack_sent != 0;
	return e->segments_sent > 1 && e->bytes != 0 && !e->retransmitted;
}

static void
tcp_count_uncaptured(struct flow_counters *counters, const struct flow *flow)
{
	bool one_way = false;

	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		one_way |= flow->tcp[1 - endpoint].segments_sent == 0 && uncaptured_tcp_is_answered(flow, endpoint);
	counters->one_way += flow->local != 0 && one_way;
}

static void
sctp_count_uncaptured(struct flow_counters *counters, const struct flow *flow)
{
	bool one_way = false;

	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		one_way |= flow->sctp[1 - endpoint].packets == 0 &&
			   (flow->sctp[endpoint].flags & SCTP_EP_CUM_ACK_KNOWN) != 0;
	counters->one_way += flow->local != 0 && one_way;
}

/* By the port that the first sender sends to.  A service below port 1024 that answers a client on such a port is no
 * tunnel. */
static void
udp_count_uncaptured(struct flow_counters *counters, const struct flow *flow)
{
	counters->tunnel_streams += dissect_port_is_of_closed_tunnel(flow->key.port[1 - flow->first_sender]) &&
				    flow->key.port[flow->first_sender] >= PORT_PRIVILEGED_END;
}

/* --- the protocols --- */

static const struct flow_protocol flow_protocols[] = {
    [FLOW_TCP] = {tcp_on_deadline, tcp_on_evict, tcp_count_uncaptured},
    [FLOW_UDP] = {udp_on_deadline, udp_on_evict, udp_count_uncaptured},
    [FLOW_SCTP] = {sctp_on_deadline, sctp_on_evict, sctp_count_uncaptured},
};

/* --- the flow table --- */

struct flow_limits
flow_limits_default(void)
{
	return (struct flow_limits){
	    .flows = 1000000,
	    .tcp_connect_ns = 127 * NANOSECONDS,  /* tcp_syn_retries = 6: 1 + 2 + 4 + ... + 64 s */
	    .tcp_time_wait_ns = 60 * NANOSECONDS, /* TCP_TIMEWAIT_LEN */
	    .tcp_idle_ns = 432000 * NANOSECONDS,  /* nf_conntrack_tcp_timeout_established: five days */
	    .tcp_closing_ns = 120 * NANOSECONDS,  /* nf_conntrack_tcp_timeout_fin_wait */
	    .udp_idle_ns = 120 * NANOSECONDS,	  /* nf_conntrack_udp_timeout_stream */
	    .sctp_setup_ns = 90 * NANOSECONDS,	  /* 1.5 times the longest interval of T1 and T2 (RTO.Max) */
	    .sctp_idle_ns = 210 * NANOSECONDS,	  /* nf_conntrack_sctp_timeout_established: seven heartbeat intervals */
	    .sctp_closed_ns = 10 * NANOSECONDS,	  /* nf_conntrack_sctp_timeout_closed */
	    .tcp_reply_ns = NANOSECONDS / 1000,	  /* far longer than a packet takes from a host's tap to its socket */
	};
}

static size_t
slots_memory_size(uint32_t flows)
{
	return ((size_t)flow_home_slots_for(flows) + HASH_PROBE_MAX + 1) * sizeof(uint64_t);
}

static size_t
flow_hot_memory_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct flow);
}

static size_t
flow_cold_memory_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct flow_cold);
}

size_t
flow_table_memory_size(uint32_t flows)
{
	return sizeof(struct flow_table) + slots_memory_size(flows) + flow_hot_memory_size(flows) +
	       flow_cold_memory_size(flows) + tcp_pools_memory_size(flows) + sctp_addr_table_memory_size(flows);
}

struct flow_table *
flow_table_new(const struct flow_limits *limits, uint64_t seed, flow_event_handler *report, void *context)
{
	struct flow_table *table;

	if (limits->flows == 0 || limits->flows > FLOWS_MAX) {
		errno = EINVAL;
		return NULL;
	}
	table = calloc(1, sizeof *table);
	if (table == NULL)
		return NULL;
	table->limits = *limits;
	table->seed = seed;
	table->on_events = report;
	table->context = context;
	table->protocols = flow_protocols;
	table->id_stride = 1;
	table->home_slots_max = flow_home_slots_for(limits->flows);
	table->home_slots = table->home_slots_max < HOME_SLOTS_FIRST ? table->home_slots_max : HOME_SLOTS_FIRST;
	table->slots = memory_reserve_huge(slots_memory_size(limits->flows));
	table->hot = memory_reserve_huge(flow_hot_memory_size(limits->flows));
	table->cold = memory_reserve_huge(flow_cold_memory_size(limits->flows));
	table->tcp_pools = tcp_pools_new(limits->flows);
	table->sctp_addrs = sctp_addr_table_new(limits->flows);
	if (table->slots == NULL || table->hot == NULL || table->cold == NULL || table->tcp_pools == NULL ||
	    table->sctp_addrs == NULL) {
		flow_table_free(table);
		errno = ENOMEM;
		return NULL;
	}
	wheel_init(table, 0);
	return table;
}

void
flow_table_populate(struct flow_table *table, uint32_t flows)
{
	if (flows > table->limits.flows)
		flows = table->limits.flows;
	memory_populate(table->slots, slots_memory_size(flows));
	memory_populate(table->hot, flow_hot_memory_size(flows));
	memory_populate(table->cold, flow_cold_memory_size(flows));
	tcp_pools_populate(table->tcp_pools, flows);
}

/* Prefetching and freeing each flow took 16 ns a packet of 183 with a million flows, so the table is freed as a
 * whole. */
void
flow_table_free(struct flow_table *table)
{
	if (table == NULL)
		return;
	record_table_free(table);
	memory_release(table->slots, slots_memory_size(table->limits.flows));
	memory_release(table->hot, flow_hot_memory_size(table->limits.flows));
	memory_release(table->cold, flow_cold_memory_size(table->limits.flows));
	tcp_pools_free(table->tcp_pools);
	sctp_addr_table_free(table->sctp_addrs);
	free(table);
}
