/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_table: the cost of the flow table alone.
 *
 *	bench_table [FLOWS ...]		(default: 1000 100000 1000000)
 *
 * For each number of concurrent flows, IPv4 UDP with random tuples, one line per measurement:
 *
 *	key+hash	canonical key and seeded hash of a packet (IPv4; and IPv6 once)
 *	create		first use of the memory: page faults included
 *	create again	like create after flow_table_clear(): memory warm
 *	memory		growth of the resident set, per flow
 *	find		random lookups one by one; all three cache lines of the flow are read before the next lookup
 *			begins, as with a state machine in between
 *	find batch	like find in batches of 32, in three passes: slot, flow, lookup
 *	refresh batch	like find batch through flow_table_lookup_udp(), which counts the datagram
 *	churn		one flow removed (the oldest) and one created, memory warm: one new connection for an old one
 *	evict		a new flow in a full table, which evicts another one
 *	expire		all flows expire at one time, in order
 *	idle timers	the call when no timer is due
 *
 * Figures are nanoseconds per operation, best of three rounds where the operation can be repeated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "flow/table/slots.h"

#define BATCH 32
#define LOOKUPS 4000000u
#define ROUNDS 3

static uint64_t random_state = 88172645463325252ull;

/* xorshift64 */
static uint64_t
bench_random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t
bench_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NANOSECONDS + (uint64_t)t.tv_nsec;
}

static uint64_t
bench_resident_bytes(void)
{
	unsigned long total = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%lu %lu", &total, &pages) != 2)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
bench_print_result(const char *what, uint32_t flows, uint64_t ns, uint64_t operations)
{
	printf("%8" PRIu32 " flows  %-14s %8.1f ns\n", flows, what, (double)ns / (double)operations);
	fflush(stdout);
}

static uint64_t events_reported;

static void
bench_count_events(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	events_reported += events->count;
}

struct bench_run {
	struct flow_table *table;
	struct packet *packet;
	struct flow_key *key;
	uint32_t *hash;
	unsigned *sender;
	uint32_t flows;
	uint64_t now;
};

static void
bench_random_packet(struct packet *packet, uint8_t version)
{
	uint64_t ends = bench_random_u64(), more = bench_random_u64();

	*packet = (struct packet){.network = version == 4 ? NETWORK_IPV4 : NETWORK_IPV6, .transport = TRANSPORT_UDP};
	packet->ip.version = version;
	packet->ip.protocol = 17;
	memcpy(packet->ip.src, &ends, 4);
	memcpy(packet->ip.dst, (const char *)&ends + 4, 4);
	if (version == 6) {
		memcpy(packet->ip.src + 8, &more, 8);
		memcpy(packet->ip.dst + 8, &ends, 8);
	}
	packet->udp.sport = (uint16_t)more;
	packet->udp.dport = (uint16_t)(more >> 16);
	packet->payload_wire = 52;
}

static void
bench_key(uint8_t version)
{
	struct packet packets[64];
	const struct flow_limits limits = {.flows = 1};
	struct flow_table *table = flow_table_new(&limits, 42, bench_count_events, NULL);
	uint64_t begin, ns, best = UINT64_MAX, sum = 0;
	unsigned i, round;

	if (table == NULL)
		return;
	for (i = 0; i < 64; i++)
		bench_random_packet(&packets[i], version);
	for (round = 0; round < 1000; round++) {
		begin = bench_clock_ns();
		for (i = 0; i < 64 * 16; i++) {
			struct flow_key key;
			unsigned sender;

			flow_key_from_packet(&packets[i % 64], &key, &sender);
			sum += flow_key_hash(table, &key) + sender;
		}
		ns = bench_clock_ns() - begin;
		if (ns < best)
			best = ns;
	}
	bench_print_result(version == 4 ? "key+hash IPv4" : "key+hash IPv6", 0, best, 64 * 16);
	if (sum == 0)
		puts("unlikely");
	flow_table_free(table);
}

/* Keys are made in advance, twice as many as flows: the second half is for new connections. */
static void
bench_make_keys(struct bench_run *t)
{
	struct packet packet;
	uint32_t i;

	t->key = malloc(2 * (size_t)t->flows * sizeof *t->key);
	t->hash = malloc(2 * (size_t)t->flows * sizeof *t->hash);
	t->sender = malloc(2 * (size_t)t->flows * sizeof *t->sender);
	t->packet = malloc(sizeof *t->packet);
	if (t->key == NULL || t->hash == NULL || t->sender == NULL || t->packet == NULL)
		exit(1);
	bench_random_packet(t->packet, 4);
	for (i = 0; i < 2 * t->flows; i++) {
		bench_random_packet(&packet, 4);
		flow_key_from_packet(&packet, &t->key[i], &t->sender[i]);
		t->hash[i] = flow_key_hash(t->table, &t->key[i]);
	}
}

static void
bench_free_keys(struct bench_run *t)
{
	free(t->key);
	free(t->hash);
	free(t->sender);
	free(t->packet);
}

static struct flow *
bench_send_datagram(struct bench_run *t, uint32_t i)
{
	struct flow_events events;

	events.count = 0;
	return flow_table_lookup_udp(t->table, t->packet, &t->key[i], t->hash[i], t->sender[i], t->now, &events);
}

static uint64_t
bench_create_flows(struct bench_run *t)
{
	uint64_t begin = bench_clock_ns();
	uint32_t i, j;

	for (i = 0; i < t->flows; i += BATCH) {
		for (j = i; j < i + BATCH && j < t->flows; j++)
			slots_prefetch_home(t->table, t->hash[j]);
		for (j = i; j < i + BATCH && j < t->flows; j++) {
			t->now += 1000;
			(void)bench_send_datagram(t, j);
		}
	}
	return bench_clock_ns() - begin;
}

static void
bench_create(struct bench_run *t)
{
	uint64_t before = bench_resident_bytes();

	bench_print_result("create", t->flows, bench_create_flows(t), t->flows);
	printf("%8" PRIu32 " flows  %-14s %8.1f bytes a flow; %.1f MB (10^6) resident\n", t->flows, "memory",
	       (double)(bench_resident_bytes() - before) / (double)t->flows,
	       (double)(bench_resident_bytes() - before) / 1e6);
	flow_table_clear(t->table);
	bench_print_result("create again", t->flows, bench_create_flows(t), t->flows);
}

/* Looks up and reads all three lines.  The answer is below 2^63, which the compiler does not know: its top bit, added
 * to the next pick, makes that wait. */
static uint64_t
bench_lookup_read(struct bench_run *t, uint32_t pick)
{
	const struct flow *flow = flow_table_lookup(t->table, &t->key[pick], t->hash[pick]);

	if (flow == NULL)
		return 0;
	return (flow->last_seen >> 1) + flow->tcp[0].nxt + flow->tcp[1].nxt;
}

static uint64_t
bench_lookup_batch(struct bench_run *t, const uint32_t *pick, bool refresh)
{
	uint64_t read = 0;
	unsigned i;

	for (i = 0; i < BATCH; i++)
		slots_prefetch_home(t->table, t->hash[pick[i]]);
	for (i = 0; i < BATCH; i++)
		slots_prefetch_candidate(t->table, t->hash[pick[i]]);
	for (i = 0; i < BATCH; i++)
		read = refresh ? bench_send_datagram(t, pick[i])->last_seen
			       : bench_lookup_read(t, pick[i] + (uint32_t)(read >> 63));
	return read;
}

enum lookup_mode {
	ONE_BY_ONE,
	BATCHED,
	REFRESHED,
};

/* The picks and their keys are brought into the cache first, as the packets of a batch would have been. */
static void
bench_lookup(struct bench_run *t, enum lookup_mode how, const char *name)
{
	uint64_t best = UINT64_MAX, found = 0;
	unsigned round, i;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t ns = 0, done;

		for (done = 0; done < LOOKUPS; done += BATCH * 32) {
			uint32_t pick[BATCH * 32];
			uint64_t begin, warm = 0;

			for (i = 0; i < BATCH * 32; i++) {
				pick[i] = (uint32_t)(bench_random_u64() % t->flows);
				warm += t->hash[pick[i]] + t->key[pick[i]].port[0] + t->sender[pick[i]];
			}
			found ^= warm == 1;
			begin = bench_clock_ns();
			if (how == ONE_BY_ONE)
				for (i = 0; i < BATCH * 32; i++)
					found = bench_lookup_read(t, pick[i] + (uint32_t)(found >> 63));
			else
				for (i = 0; i < BATCH * 32; i += BATCH)
					found = bench_lookup_batch(t, pick + i, how == REFRESHED);
			ns += bench_clock_ns() - begin;
		}
		if (ns < best)
			best = ns;
	}
	bench_print_result(name, t->flows, best, (LOOKUPS + BATCH * 32 - 1) / (BATCH * 32) * (BATCH * 32));
	if (found == 0)
		puts("nothing found");
}

/* Flows are replaced in the order of their creation, as short connections at a constant rate are; slots are looked up a
 * batch ahead, as the packets of a batch are. */
static void
bench_churn(struct bench_run *t)
{
	uint64_t begin = bench_clock_ns(), best = UINT64_MAX;
	uint32_t i, round, j;

	for (round = 0; round < 4; round++) {
		uint32_t old = round % 2 == 0 ? 0 : t->flows, new = round % 2 == 0 ? t->flows : 0;

		begin = bench_clock_ns();
		for (i = 0; i + BATCH <= t->flows; i += BATCH) {
			for (j = i; j < i + BATCH; j++) {
				slots_prefetch_home(t->table, t->hash[new + j]);
				slots_prefetch_home(t->table, t->hash[old + j]);
			}
			for (j = i; j < i + BATCH; j++)
				slots_prefetch_candidate(t->table, t->hash[old + j]);
			for (j = i; j < i + BATCH; j++) {
				struct flow *flow = flow_table_lookup(t->table, &t->key[old + j], t->hash[old + j]);

				if (flow != NULL)
					flow_table_remove_flow(t->table, flow);
				t->now += 1000;
				(void)bench_send_datagram(t, new + j);
			}
		}
		if (bench_clock_ns() - begin < best)
			best = bench_clock_ns() - begin;
	}
	bench_print_result("churn", t->flows, best, t->flows);
}

/* As many new flows as the full table has, so that each evicts one. */
static void
bench_evict(struct bench_run *t)
{
	uint64_t begin = bench_clock_ns();
	uint32_t i, j;

	for (i = 0; i + BATCH <= t->flows; i += BATCH) {
		for (j = i; j < i + BATCH; j++)
			slots_prefetch_home(t->table, t->hash[t->flows + j]);
		for (j = i; j < i + BATCH; j++) {
			t->now += 100;
			flow_table_run_timers(t->table, t->now);
			(void)bench_send_datagram(t, t->flows + j);
		}
	}
	bench_print_result("evict", t->flows, bench_clock_ns() - begin, t->flows);
}

static void
bench_timers(struct bench_run *t)
{
	uint64_t begin = bench_clock_ns(), flows = flow_table_counters(t->table)->flows;
	uint32_t i;

	for (i = 0; i < LOOKUPS; i++)
		flow_table_run_timers(t->table, t->now + i % 16);
	bench_print_result("idle timers", t->flows, bench_clock_ns() - begin, LOOKUPS);
	begin = bench_clock_ns();
	flow_table_run_timers(t->table, t->now + 3600 * NANOSECONDS);
	bench_print_result("expire", t->flows, bench_clock_ns() - begin, flows);
}

static void
bench_run_flows(uint32_t flows)
{
	struct flow_limits limits = flow_limits_default();
	struct bench_run t = {.flows = flows, .now = 1700000000 * NANOSECONDS};

	limits.flows = flows;
	t.table = flow_table_new(&limits, bench_random_u64(), bench_count_events, NULL);
	if (t.table == NULL) {
		perror("flow_table_new");
		exit(1);
	}
	bench_make_keys(&t);
	bench_create(&t);
	bench_lookup(&t, ONE_BY_ONE, "find");
	bench_lookup(&t, BATCHED, "find batch");
	bench_lookup(&t, REFRESHED, "refresh batch");
	bench_churn(&t);
	bench_evict(&t);
	bench_timers(&t);
	printf("%8" PRIu32 " flows  longest probe %" PRIu64 ", %" PRIu64 " bytes a flow reserved\n", flows,
	       flow_table_counters(t.table)->longest_probe, (uint64_t)flow_table_memory_size(flows) / flows);
	flow_table_free(t.table);
	bench_free_keys(&t);
}

int
main(int argc, char **argv)
{
	static const uint32_t default_counts[] = {1000, 100000, 1000000};
	unsigned i;
	int arg;

	bench_key(4);
	bench_key(6);
	for (i = 0; argc < 2 && i < sizeof default_counts / sizeof default_counts[0]; i++)
		bench_run_flows(default_counts[i]);
	for (arg = 1; arg < argc; arg++) {
		unsigned long flows = strtoul(argv[arg], NULL, 10);

		if (flows >= BATCH && flows <= 100000000)
			bench_run_flows((uint32_t)flows);
	}
	return events_reported == 0;
}
