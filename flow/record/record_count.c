/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection records: what packets change. */
#include "flow/record/record_count.h"

#include "flow/table/table_internal.h"

/* Longest hash probe for the name of an interface; a name that finds no free slot is unknown.  Slot 0 is the unknown
 * name. */
#define INTERFACE_PROBES 16u

const uint32_t record_bucket_bounds_us[RECORD_BUCKETS + 1] = {
    100,    250,    500,     1000,    2500,    5000,     10000,     25000, 50000,
    100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, UINT32_MAX,
};

const uint8_t record_buckets_by_bit[32] = {
    0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8,
    9, 10, 11, 12, 13, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16,
};

static struct flow_record *
record_of(struct flow_table *table, const struct flow *flow)
{
	return &table->records.entries[flow_index_of(table, flow)];
}

static uint16_t
record_increment_u16(uint16_t value)
{
	return (uint16_t)(value + (value != UINT16_MAX));
}

/* --- the first packet --- */

/* FNV-1a. */
static uint32_t
record_name_hash(const char name[RECORD_INTERFACE_NAME])
{
	uint32_t hash = 2166136261u;

	for (unsigned i = 0; i < RECORD_INTERFACE_NAME && name[i] != '\0'; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash;
}

/* The slot of a name, 0 if no slot is free. */
static uint16_t
record_intern_interface(struct record_table *records, const char name[RECORD_INTERFACE_NAME])
{
	uint32_t hash = record_name_hash(name);

	if (name[0] == '\0')
		return 0;
	for (unsigned i = 0; i < INTERFACE_PROBES; i++) {
		uint32_t slot = (hash + i) % RECORD_INTERFACES;
		char *kept = records->interfaces[slot];

		if (slot == 0)
			continue;
		if (kept[0] == '\0')
			memcpy(kept, name, RECORD_INTERFACE_NAME - 1);
		if (strncmp(kept, name, RECORD_INTERFACE_NAME - 1) == 0)
			return (uint16_t)slot;
	}
	return 0;
}

/* Packet time of the first packet of the record. */
static uint64_t
record_start(const struct flow_table *table, const struct flow *flow, const struct flow_record *record)
{
	if ((record->bits & RECORD_LATE) != 0)
		return record->since;
	return table->cold[flow_index_of(table, flow)].first_seen;
}

static bool
record_starts_connection(const struct flow *flow, const struct flow_record *record, unsigned sender)
{
	if (flow->kind == FLOW_UDP)
		return sender == flow_record_client(record);
	return flow_record_role(record) == RECORD_ROLE_SEEN && sender == flow_record_client(record);
}

static void
record_take_first_packet(struct record_table *records, const struct flow *flow, struct flow_record *record,
			 const struct packet *packet, const struct record_packet *p)
{
	record_set_role(flow, record);
	if ((record->bits & RECORD_LATE) == 0 && record_starts_connection(flow, record, p->sender)) {
		record->bits |= RECORD_FROM_START;
		record_set_time(&record->request_us, &record->request_high, p->now);
	}
	if (packet->frame != NULL && packet->frame->interface != NULL)
		record->interface = record_intern_interface(records, packet->frame->interface->name);
	if (packet->ether.tagged)
		record->vlan = packet->ether.vlan;
}

/* --- packets --- */

void
record_count_anomaly(struct flow_table *table, const struct flow *flow, enum anomaly anomaly)
{
	struct flow_record *record;

	if (table->records.entries == NULL || anomaly == ANOMALY_NONE)
		return;
	record = record_of(table, flow);
	record->anomalies++;
	if (record->first_anomaly == ANOMALY_NONE)
		record->first_anomaly = anomaly & 0xffu;
}

void
record_count_anomalies(struct flow_table *table, const struct flow *flow, const struct packet *packet)
{
	for (unsigned a = 1; packet->worst_anomaly != ANOMALY_NONE && a < ANOMALY_COUNT; a++)
		if (anomaly_has(&packet->anomalies, (enum anomaly)a))
			record_count_anomaly(table, flow, (enum anomaly)a);
}

void
record_count_packet(struct flow_table *table, const struct flow *flow, const struct packet *packet,
		    struct record_packet *p)
{
	struct record_table *records = &table->records;
	struct flow_record *record = record_of(table, flow);
	struct flow_time *time = &records->times[flow_index_of(table, flow)];

	p->resent = records->resent != RETRANSMIT_NONE && records->resent != RETRANSMIT_SPURIOUS;
	records->resent = RETRANSMIT_NONE;
	p->wire = packet->frame != NULL ? packet->frame->len : 0;
	if (record->wire[0] + record->wire[1] == 0) {
		record_take_first_packet(records, flow, record, packet, p);
		time_begin(time, record_start(table, flow, record));
	}
	if ((p->flags & TCP_SYN) != 0 && flow_record_role(record) != RECORD_ROLE_SEEN)
		record_set_role(flow, record);
	if (flow->kind != FLOW_SCTP) /* counts them also of packets that it drops */
		record_count_anomalies(table, flow, packet);
	record_apply_packet(records, record, time, *p);
}

void
record_take_answer(struct record_table *records, struct flow_record *record, const struct record_packet *p)
{
	uint32_t us;

	if ((record->bits & RECORD_SERVER_SENT) == 0) {
		record->bits |= RECORD_SERVER_SENT;
		if ((record->bits & RECORD_FROM_START) != 0)
			record->first_byte_us = record_us_since_first(record, p->now);
		record->answer_max_us = 0;
		if (p->udp && (record->bits & RECORD_WAITS) == 0)
			record->bits |= RECORD_EARLY;
	}
	if (p->udp && (record->bits & RECORD_EARLY) != 0) {
		record_set_time(&record->request_us, &record->request_high, p->now);
		return;
	}
	if (p->unordered)
		record->bits &= (uint16_t)~RECORD_WAITS;
	if ((record->bits & RECORD_WAITS) == 0 || !p->answers)
		return;
	us = record_us_since(record->request_us, record->request_high, p->now);
	record->bits &= (uint16_t)~RECORD_WAITS;
	record->exchanges++;
	record->answer_sum_us += us;
	if (us > record->answer_max_us)
		record->answer_max_us = us;
	record_add_sample(&records->totals.answer, us);
}

/* --- TCP --- */

void
record_set_window(struct record_table *records, struct flow_record *record, unsigned sender, bool closed, uint64_t now)
{
	if (closed == ((record->bits & RECORD_WINDOW_CLOSED << sender) != 0))
		return;
	if (!closed) {
		record_measure_window(record, sender, now);
		record->bits &= (uint16_t)~(RECORD_WINDOW_CLOSED << sender);
		return;
	}
	record->bits |= (uint16_t)(RECORD_WINDOW_CLOSED << sender);
	record_set_time(&record->closed_us[sender], &record->closed_high[sender], now);
	record->zero_windows[sender] = record_increment_u16(record->zero_windows[sender]);
	records->totals.zero_windows[sender != flow_record_client(record)]++;
}

bool
record_window_is_closed(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	return (table->records.entries[flow_index_of(table, flow)].bits & RECORD_WINDOW_CLOSED << endpoint) != 0;
}

void
record_measure_window(struct flow_record *record, unsigned endpoint, uint64_t now)
{
	uint32_t us;

	if ((record->bits & RECORD_WINDOW_CLOSED << endpoint) == 0)
		return;
	us = record_us_since(record->closed_us[endpoint], record->closed_high[endpoint], now);
	if (us > record->zero_window_us)
		record->zero_window_us = us;
}

void
record_count_round_trip(struct flow_table *table, const struct flow *flow, unsigned end, uint32_t us)
{
	if (table->records.entries != NULL && us != 0)
		record_add_round_trip(&table->records, &table->records.times[flow_index_of(table, flow)], end, us);
}

void
record_count_resent(struct flow_table *table, const struct flow *flow, enum tcp_retransmit_kind kind)
{
	struct flow_record *record;

	if (table->records.entries == NULL)
		return;
	record = record_of(table, flow);
	if (kind == RETRANSMIT_SYN) {
		record->resent_syn = record_increment_u16(record->resent_syn);
		record_check_attempt(table, flow);
	} else
		record->resent[kind - 1]++;
	table->records.totals.resent[kind]++;
	table->records.resent = kind;
}

void
record_count_out_of_order(struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	if (table->records.entries == NULL)
		return;
	record_of(table, flow)->out_of_order[endpoint]++;
	table->records.totals.out_of_order++;
}

void
record_complete_handshake(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint64_t now)
{
	struct flow_record *record;

	if (table->records.entries == NULL)
		return;
	record = record_of(table, flow);
	if ((record->bits & (RECORD_FROM_START | RECORD_HANDSHAKE)) != RECORD_FROM_START ||
	    endpoint == flow_record_client(record))
		return;
	record->bits |= RECORD_HANDSHAKE;
	record->handshake_us = record_us_between(table->cold[flow_index_of(table, flow)].first_seen, now);
	record_add_sample(&table->records.totals.handshake, record->handshake_us);
}

/* --- resets --- */

void
record_set_reset(struct flow_table *table, const struct flow *flow, unsigned by, bool refused, uint8_t state)
{
	struct record_table *records = &table->records;
	struct flow_record *record;

	if (records->entries == NULL)
		return;
	record = record_of(table, flow);
	if ((record->bits & (RECORD_RESET | RECORD_RESET << 1 | RECORD_ENDED)) != 0)
		return;
	record->bits |= (uint16_t)(RECORD_RESET << by | (refused ? RECORD_REFUSED_ATTEMPT : 0));
	if (flow->kind == FLOW_TCP && !refused)
		records->totals.resets[by != flow_record_client(record)][state]++;
}

void
record_set_unreached(struct flow_table *table, const struct flow *flow, unsigned endpoint, const struct packet *packet)
{
	struct record_icmp *icmp;

	if (table->records.entries == NULL)
		return;
	record_of(table, flow)->bits |= RECORD_UNREACHED;
	icmp = &table->records.rare[flow_index_of(table, flow)].icmp;
	memcpy(icmp->sender, packet->ip.src, sizeof icmp->sender);
	icmp->version = packet->ip.version;
	icmp->type = packet->icmp.type;
	icmp->code = packet->icmp.code;
	icmp->endpoint = (uint8_t)endpoint;
}

void
record_set_down(struct flow_table *table, const struct flow *flow)
{
	if (table->records.entries != NULL)
		record_of(table, flow)->bits |= RECORD_DOWN;
}
