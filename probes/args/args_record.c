/* SPDX-License-Identifier: BSD-2-Clause */
/* conninfo, the first argument of every application provider. */
#include <string.h>

#include "flow/record/flow_record.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/args/args.h"
#include "probes/args/connection_id.h"
#include "probes/names.h"

void
args_conninfo(struct conninfo *info, const struct probe_endpoint *of, uint64_t packet, uint64_t now)
{
	const struct flow *flow = of->flow;
	unsigned version = flow->key.version;

	*info = (struct conninfo){
	    .ci_lport = flow->key.port[of->end],
	    .ci_rport = flow->key.port[1 - of->end],
	    .ci_cid = flow_cid(of->table, flow, of->end),
	    .ci_pkt = packet,
	    .ci_ts = now,
	};
	field_set_address(info->ci_local, sizeof info->ci_local, version, flow->key.addr[of->end]);
	field_set_address(info->ci_remote, sizeof info->ci_remote, version, flow->key.addr[1 - of->end]);
	field_set_string(info->ci_protocol, sizeof info->ci_protocol, version == 4 ? "ipv4" : "ipv6");
}

/* --- connrec: the record of a connection. --- */

/* What an end sent, from the flow. */
struct sent {
	uint64_t segments, bytes, resent;
	uint32_t mss;	   /* largest segment that the end may send, bytes; 0 unknown */
	const char *state; /* as in the state probes; "" unknown */
};

static struct sent
record_sent(const struct flow_table *table, const struct flow *flow, unsigned end)
{
	const struct tcp_endpoint *tcp = &flow->tcp[end];
	const struct sctp_endpoint *sctp = &flow->sctp[end];
	struct tcp_estimates estimates;

	struct record_excess excess = flow_record_excess(table, flow);

	switch ((enum flow_kind)flow->kind) {
	case FLOW_TCP:
		tcp_estimate_congestion(table, flow, end, &estimates);
		return (struct sent){.segments = tcp->segments_sent - excess.segments[end],
				     .bytes = tcp_captured_bytes(tcp) - excess.bytes[end],
				     .resent = tcp_retransmits(table, flow, end) - excess.resent[end],
				     .mss = estimates.mss,
				     .state = tcp->state == TCP_STATE_NONE ? "" : tcp_state_name(tcp->state)};
	case FLOW_SCTP:
		return (struct sent){.segments = sctp->packets,
				     .bytes = sctp->bytes,
				     .resent = sctp->retransmits,
				     .state = sctp->state == SCTP_STATE_NONE ? "" : sctp_state_name(sctp->state)};
	case FLOW_UDP:
		break;
	}
	return (struct sent){.segments = flow->udp[end].datagrams, .bytes = flow->udp[end].bytes, .state = ""};
}

/* The state without "state-". */
static void
record_set_state(char *to, size_t size, const char *state)
{
	static const char prefix[] = "state-";
	size_t skip = strncmp(state, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;

	field_set_string(to, size, state + skip);
}

static void
record_set_identity(struct connrec *info, const struct flow_table *table, const struct flow *flow, unsigned client)
{
	const struct flow_key *key = &flow->key;
	struct connection_origin origin = {.start = flow_first_seen(table, flow)};

	if (flow->kind == FLOW_TCP) {
		origin.isn_known = (flow->tcp[client].flags & TCP_EP_ISS_KNOWN) != 0;
		origin.isn = flow->tcp[client].iss;
	}
	info->cr_uid = connection_uid(key, &origin);
	connection_community(key, info->cr_community);
	field_set_address(info->cr_client, sizeof info->cr_client, key->version, key->addr[client]);
	field_set_address(info->cr_server, sizeof info->cr_server, key->version, key->addr[1 - client]);
	info->cr_client_port = key->port[client];
	info->cr_server_port = key->port[1 - client];
	info->cr_client_cid = flow_cid(table, flow, client);
	info->cr_server_cid = flow_cid(table, flow, 1 - client);
	info->cr_protocol = key->protocol;
	info->cr_version = key->version;
	field_set_string(info->cr_protostr, sizeof info->cr_protostr, ip_protocol_name(key->protocol));
}

static void
record_set_times(struct connrec *info, const struct flow_table *table, const struct flow *flow,
		 const struct flow_record *record)
{
	info->cr_start = record->follows ? info->cr_since : flow_first_seen(table, flow);
	info->cr_end = flow_last_seen(table, flow);
	info->cr_duration_us = info->cr_end > info->cr_start ? (info->cr_end - info->cr_start) / 1000 : 0;
}

static void
record_set_ends(struct connrec *info, const struct flow_table *table, const struct flow *flow,
		const struct flow_record *record, unsigned client)
{
	struct sent from_client = record_sent(table, flow, client), from_server = record_sent(table, flow, 1 - client);
	struct record_excess excess = flow_record_excess(table, flow);
	unsigned server = 1 - client;

	info->cr_client_segments = from_client.segments;
	info->cr_client_bytes = from_client.bytes;
	info->cr_client_wire = record->wire[client] - excess.wire[client];
	info->cr_client_resent = from_client.resent;
	info->cr_client_out_of_order = record->out_of_order[client];
	info->cr_client_zero_windows = record->zero_windows[client];
	info->cr_client_flags = record->flags[client];
	record_set_state(info->cr_client_state, sizeof info->cr_client_state, from_client.state);
	info->cr_server_segments = from_server.segments;
	info->cr_server_bytes = from_server.bytes;
	info->cr_server_wire = record->wire[server] - excess.wire[server];
	info->cr_server_resent = from_server.resent;
	info->cr_server_out_of_order = record->out_of_order[server];
	info->cr_server_zero_windows = record->zero_windows[server];
	info->cr_server_flags = record->flags[server];
	record_set_state(info->cr_server_state, sizeof info->cr_server_state, from_server.state);
	info->cr_mss = from_client.mss < from_server.mss ? from_client.mss : from_server.mss;
}

static void
record_set_icmp(struct connrec *info, const struct record_icmp *icmp)
{
	info->cr_icmp_type = info->cr_icmp_code = -1;
	if (icmp == NULL)
		return;
	info->cr_icmp_type = icmp->type;
	info->cr_icmp_code = icmp->code;
	field_set_string(info->cr_icmp_str, sizeof info->cr_icmp_str,
			 icmp_error_words(icmp->version, icmp->type, icmp->code));
	field_set_address(info->cr_icmp_sender, sizeof info->cr_icmp_sender, icmp->version, icmp->sender);
}

static netobs_i64
record_known_us(uint32_t us)
{
	return us == RECORD_UNKNOWN_US ? -1 : (netobs_i64)us;
}

/* The mean, the sum and the number of samples being known; -1 without samples. */
static netobs_i64
record_mean_us(uint64_t sum_us, uint32_t samples)
{
	return samples == 0 ? -1 : (netobs_i64)(sum_us / samples);
}

static void
record_set_measured(struct connrec *info, const struct flow_record *record)
{
	uint32_t exchanges = record->exchanges;

	info->cr_resent_fast = flow_record_resent(record, RETRANSMIT_FAST);
	info->cr_resent_timeout = flow_record_resent(record, RETRANSMIT_TIMEOUT);
	info->cr_resent_probe = flow_record_resent(record, RETRANSMIT_TAIL_LOSS_PROBE);
	info->cr_resent_spurious = flow_record_resent(record, RETRANSMIT_SPURIOUS);
	info->cr_resent_syn = flow_record_resent(record, RETRANSMIT_SYN);
	info->cr_zero_window_us = record->zero_window_us;
	info->cr_handshake_us = record_known_us(flow_record_handshake_us(record));
	info->cr_first_byte_us = record_known_us(flow_record_first_byte_us(record));
	info->cr_exchanges = exchanges;
	info->cr_answer_mean_us = record_mean_us(record->answer_sum_us, exchanges);
	info->cr_answer_max_us = exchanges != 0 ? (netobs_i64)record->answer_max_us : -1;
	info->cr_anomalies = record->anomalies;
}

/* Samples of both ends. */
static void
record_set_round_trips(struct connrec *info, const struct flow_time *time)
{
	const struct flow_round_trips *a = &time->rtt[0], *b = &time->rtt[1];
	uint32_t samples = a->samples + b->samples;

	info->cr_rtt_samples = samples;
	info->cr_rtt_min_us = record_known_us(a->min_us < b->min_us ? a->min_us : b->min_us);
	info->cr_rtt_mean_us = record_mean_us(a->sum_us + b->sum_us, samples);
	info->cr_rtt_max_us = samples != 0 ? (netobs_i64)(a->max_us > b->max_us ? a->max_us : b->max_us) : -1;
}

struct record_rtt {
	netobs_i64 min_us, mean_us, max_us, loaded_us;
};

static struct record_rtt
record_round_trips_of(const struct flow_round_trips *rtt)
{
	bool known = rtt->samples != 0;

	return (struct record_rtt){
	    .min_us = known ? (netobs_i64)rtt->min_us : -1,
	    .mean_us = record_mean_us(rtt->sum_us, rtt->samples),
	    .max_us = known ? (netobs_i64)rtt->max_us : -1,
	    .loaded_us = record_mean_us(rtt->loaded_sum_us, rtt->loaded),
	};
}

/* What the time of the connection went to. */
static void
record_set_time(struct connrec *info, const struct recorded_connection *of, unsigned client)
{
	unsigned server = 1 - client;
	uint64_t us[WAIT_CLASSES];
	const struct flow_time *time = flow_record_time(of->table, of->flow, us);
	struct record_rtt to_client = record_round_trips_of(&time->rtt[client]);
	struct record_rtt to_server = record_round_trips_of(&time->rtt[server]);

	record_set_round_trips(info, time);
	info->cr_connect_us = us[WAIT_CONNECT];
	info->cr_path_us = us[WAIT_PATH];
	info->cr_network_us = us[WAIT_NETWORK];
	info->cr_client_us = us[WAIT_PROGRAM + client];
	info->cr_server_us = us[WAIT_PROGRAM + server];
	info->cr_client_sending_us = us[WAIT_SENDING + client];
	info->cr_server_sending_us = us[WAIT_SENDING + server];
	info->cr_client_window_us = us[WAIT_WINDOW + client];
	info->cr_server_window_us = us[WAIT_WINDOW + server];
	info->cr_client_lost_us = us[WAIT_LOST + client];
	info->cr_server_lost_us = us[WAIT_LOST + server];
	info->cr_closing_us = us[WAIT_CLOSING];
	info->cr_unknown_us = us[WAIT_UNKNOWN];
	info->cr_client_rtt_min_us = to_client.min_us;
	info->cr_client_rtt_mean_us = to_client.mean_us;
	info->cr_client_rtt_max_us = to_client.max_us;
	info->cr_client_rtt_loaded_us = to_client.loaded_us;
	info->cr_client_busy_us = time->busy_us[client];
	info->cr_server_rtt_min_us = to_server.min_us;
	info->cr_server_rtt_mean_us = to_server.mean_us;
	info->cr_server_rtt_max_us = to_server.max_us;
	info->cr_server_rtt_loaded_us = to_server.loaded_us;
	info->cr_server_busy_us = time->busy_us[server];
	info->cr_server_min_us = record_known_us(time->answer_min_us[server]);
	info->cr_server_max_us =
	    time->answer_min_us[server] != UINT32_MAX ? (netobs_i64)time->answer_max_us[server] : -1;
	info->cr_pause_max_us = time->pause_max_us;
	info->cr_turns = time->turns;
	info->cr_slow_answers = time->slow_answers[server];
	info->cr_client_lost_before = time->missing_resent[client];
	info->cr_server_lost_before = time->missing_resent[server];
	info->cr_unanswered_us =
	    time->open_us != 0 && ((time->bits & TIME_ASKER) != 0) == client ? (netobs_i64)time->open_us : -1;
	if ((time->bits & TIME_CLOSED) != 0)
		field_set_string(info->cr_closed_by, sizeof info->cr_closed_by,
				 ((time->bits & TIME_CLOSER) != 0) == client ? "client" : "server");
	info->cr_cut = (time->bits & TIME_CUT) != 0;
}

static void
record_set_words(struct connrec *info, const struct flow_table *table, const struct flow_record *record,
		 enum record_reason reason)
{
	enum anomaly first = (enum anomaly)record->first_anomaly;

	field_set_string(info->cr_role, sizeof info->cr_role, record_role_name(flow_record_role(record)));
	field_set_string(info->cr_reason, sizeof info->cr_reason, record_reason_name(reason));
	field_set_string(info->cr_if_name, sizeof info->cr_if_name, flow_record_interface(table, record));
	field_set_string(info->cr_anomaly, sizeof info->cr_anomaly, first != ANOMALY_NONE ? anomaly_name(first) : "");
	info->cr_vlan = record->vlan == RECORD_NO_VLAN ? -1 : record->vlan;
}

static void
record_set_name(struct connrec *info, const struct flow_table *table, const struct flow *flow)
{
	const char *from, *name = flow_table_name(table, flow, &from);

	field_set_string(info->cr_name, sizeof info->cr_name, name);
	field_set_string(info->cr_name_from, sizeof info->cr_name_from, from);
}

static void
record_set_owners(struct connrec *info, const struct owner *client, const struct owner *server)
{
	bool named = client != NULL && client->pid >= 0;

	info->cr_client_pid = client != NULL ? client->pid : -1;
	info->cr_client_uid = client != NULL && client->uid != OWNER_UID_UNKNOWN ? (netobs_i64)client->uid : -1;
	field_set_string(info->cr_client_comm, sizeof info->cr_client_comm, named ? client->comm : "");
	named = server != NULL && server->pid >= 0;
	info->cr_server_pid = server != NULL ? server->pid : -1;
	info->cr_server_uid = server != NULL && server->uid != OWNER_UID_UNKNOWN ? (netobs_i64)server->uid : -1;
	field_set_string(info->cr_server_comm, sizeof info->cr_server_comm, named ? server->comm : "");
}

void
args_connrec(struct connrec *info, const struct recorded_connection *of)
{
	unsigned client = flow_record_client(of->record);

	*info = (struct connrec){.cr_since = flow_record_since(of->table, of->flow, of->record)};
	record_set_identity(info, of->table, of->flow, client);
	record_set_times(info, of->table, of->flow, of->record);
	record_set_ends(info, of->table, of->flow, of->record, client);
	record_set_measured(info, of->record);
	record_set_time(info, of, client);
	record_set_name(info, of->table, of->flow);
	record_set_words(info, of->table, of->record, of->reason);
	record_set_icmp(info, flow_record_icmp(of->table, of->flow));
	record_set_owners(info, of->owner[client], of->owner[1 - client]);
}
