/* SPDX-License-Identifier: BSD-2-Clause */
/* The fast path has the results of the slow path: every capture is observed untraced, with a tracer that comes and
 * goes at random frames, both with and without a flight memory, and with a probe enabled all the time, which
 * forces the slow path; connections and counters must be equal.  So must be the firings that formulas read and the
 * counts of those that they reject, with screening and, while a tracer is attached besides, on the slow path.  So must
 * be the connection records and the reports of connections that have ended or are open, also if records are kept from
 * the middle of the capture on, or are switched on and off in it.  Each Ethernet capture is observed a second time as
 * if captured on "any".  Directories of more captures may be given as arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <malloc.h>
#include <dirent.h>
#include <pcap/pcap.h>
#include <sys/mman.h>

#include "flight/ring.h"
#include "flow/reassembly/reassembly.h"
#include "host/lower_dedup.h"
#include "observe/observe_internal.h"
#include "observe/observer.h"
#include "observe/ring_listener.h"
#include "probes/fire.h"
#include "probes/firing.h"
#include "probes/manifest.h"
#include "probes/netobs.h"
#include "probes/site/semaphores.h"
#include "tests/observe/flow_snapshot.h"

#define FRAMES_MAX 20000u
#define SECOND 1000000000ull

enum { ETHER_HEADER = 14, SLL2_BYTES = 20 };
enum { ETH0 = 2, BR0 = 3 }; /* a bridge and its port; another interface and the loopback are there, too */

static const struct interface devices[] = {{.ifindex = 1, .name = "lo", .loopback = true},
					   {.ifindex = ETH0, .name = "eth0"},
					   {.ifindex = BR0, .name = "br0"},
					   {.ifindex = 4, .name = "eth1"}};

static struct {
	char name[256];
	struct frame frames[FRAMES_MAX];
	unsigned count;
	unsigned long connections; /* of all captures */
	unsigned long rejected;	   /* firings, on the fast path */
	unsigned long reports[RECORD_REASON_COUNT];
	unsigned long notes;
} capture;

/* Replaces libc's.  The memory of rings need not be present before it is used: this test makes thousands of them. */
int
madvise(void *memory, size_t size, int advice)
{
	(void)memory;
	(void)size;
	(void)advice;
	return 0;
}

static uint32_t
random_below(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * limit >> 32);
}

/* --- the flows of one observer --- */

struct observer_snapshot {
	struct flow_snapshot flows;
	struct flow_counters counters;
	struct observe_counters observed;
	struct record_totals totals;
};

static void
observer_snapshot_take(struct observer_snapshot *s, const struct observer *o)
{
	flow_snapshot_take(&s->flows, observer_flows(o));
	s->counters = *flow_table_counters(observer_flows(o));
	s->observed = *observer_counters(o);
	s->totals = *flow_table_record_totals(observer_flows(o));
}

static void
compare(const struct observer_snapshot *a, const struct observer_snapshot *b)
{
	uint64_t difference = flow_snapshot_difference(&a->flows, &b->flows);

	if (memcmp(&a->observed, &b->observed, sizeof a->observed) != 0)
		fail_msg("%s: other counters", capture.name);
	if (memcmp(&a->counters, &b->counters, sizeof a->counters) != 0)
		fail_msg("%s: other counters of the flow table", capture.name);
	if (memcmp(&a->totals, &b->totals, sizeof a->totals) != 0)
		fail_msg("%s: other totals of records", capture.name);
	if (difference != 0)
		fail_msg("%s: connection %lu differs", capture.name, (unsigned long)difference);
}

/* --- a listener, like formulas that are true for one of eight firings of a probe of packets --- */

struct listener {
	uint64_t seen[PROBE_COUNT], matched[PROBE_COUNT];
	uint64_t digest;   /* of the arguments of what matched, in order */
	uint64_t rejected; /* with screening only */
};

static uint64_t
hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t i = 0; bytes != NULL && i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
	return hash ^ hash >> 32;
}

/* Without the address of the header, which is another one for each reassembled datagram. */
static uint64_t
hash_tcpinfo(uint64_t hash, const struct tcpinfo *tcp)
{
	struct tcpinfo copy = *tcp;

	copy.tcp_hdr = 0;
	return hash_bytes(hash, &copy, sizeof copy);
}

/* A hash of the arguments that screening gives. */
static uint64_t
hash_firing(struct firing *f)
{
	const struct frame *frame = f->packet->frame;
	uint64_t hash = hash_bytes(f->probe, &frame->len, sizeof frame->len);

	hash = hash_bytes(hash, &f->ts, sizeof f->ts);
	if (f->probe != PROBE_IP_PACKET_FREE)
		hash = hash_bytes(hash, firing_argument(f, 2), sizeof(struct ipinfo));
	if (f->probe == PROBE_TCP_SEND || f->probe == PROBE_TCP_RECEIVE)
		hash = hash_tcpinfo(hash, firing_argument(f, 4));
	return hash;
}

static void
on_firing(void *context, struct firing *f)
{
	struct listener *l = context;
	bool event = !emitter_screens_probe(f->probe);
	uint64_t hash = event ? hash_bytes(f->probe, &f->ts, sizeof f->ts) : hash_firing(f);

	l->seen[f->probe]++;
	if (!event && hash % 8 != 0)
		return;
	l->matched[f->probe]++;
	l->digest = hash_bytes(hash, &l->digest, sizeof l->digest);
}

static bool
on_screening(void *context, struct firing *f)
{
	(void)context;
	return hash_firing(f) % 8 != 0;
}

static void
on_rejection(void *context, enum probe_id probe)
{
	struct listener *l = context;

	l->seen[probe]++;
	l->rejected++;
}

static void
on_poll(void *context)
{
	(void)context;
}

/* The formulas read all probes of events and the probes of packets that are screened; those of connections, which make
 * the observer keep records, only if all observers keep them. */
static void
change_formulas(void (*change)(unsigned probe), bool records)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		bool connection = i == PROBE_CONNECTION_END || i == PROBE_CONNECTION_ACTIVE;

		if (connection ? records : !manifest_per_packet[i] || emitter_screens_probe((enum probe_id)i))
			change(i);
	}
}

static void
compare_listeners(const struct listener *a, const struct listener *b)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (a->seen[i] != b->seen[i] || a->matched[i] != b->matched[i])
			fail_msg("%s: %s: %lu of %lu and %lu of %lu firings matched", capture.name,
				 manifest_probes[i].name, (unsigned long)a->matched[i], (unsigned long)a->seen[i],
				 (unsigned long)b->matched[i], (unsigned long)b->seen[i]);
	if (a->digest != b->digest)
		fail_msg("%s: other firings matched", capture.name);
}

/* --- the reports of one observer --- */

struct reports {
	struct observer *observer;
	const struct flow_table *flows;
	uint64_t digest;
	unsigned long count[RECORD_REASON_COUNT];
};

/* In place of the observer's handler, which it calls. */
static void
on_record(void *context, const struct flow *flow, const struct flow_record *record, enum record_reason reason)
{
	struct reports *r = context;
	uint64_t last_seen = flow_last_seen(r->flows, flow);
	struct flow_record unnamed = *record;

	observe_on_connection_record(r->observer, flow, record, reason);
	if (flow->local == 0)
		return;
	assert_ptr_equal(flow_table_record(r->flows, flow), record);
	assert_true((record->bits & RECORD_ENDED) == 0);
	r->count[reason]++;
	r->digest = hash_bytes(r->digest ^ reason, &flow->key, sizeof flow->key);
	unnamed.named = 0; /* names are read only for an observer with a probe of connections */
	r->digest = hash_bytes(r->digest, &unnamed, sizeof unnamed);
	r->digest = hash_bytes(r->digest, &last_seen, sizeof last_seen);
}

static void
compare_reports(const struct reports *a, const struct reports *b)
{
	for (unsigned reason = 0; reason < RECORD_REASON_COUNT; reason++)
		if (a->count[reason] != b->count[reason])
			fail_msg("%s: %lu and %lu connections reported for reason %u", capture.name, a->count[reason],
				 b->count[reason], reason);
	if (a->digest != b->digest)
		fail_msg("%s: other reports", capture.name);
}

/* --- the frames that a ring keeps, with their connections and notes --- */

struct kept_frames {
	struct ring *ring;
	unsigned long frames, notes;
	uint64_t digest;
};

static void
on_kept(void *context, const struct ring_frame *frame)
{
	struct kept_frames *kept = context;
	const uint64_t numbers[] = {frame->ts,	   frame->now,	   frame->caplen,	   frame->len,
				    frame->sender, frame->direction, frame->packet_id, (uint64_t)frame->dlt};

	kept->frames++;
	kept->notes += frame->notes;
	kept->digest = hash_bytes(kept->digest, numbers, sizeof numbers);
	kept->digest = hash_bytes(kept->digest, frame->data, frame->caplen);
	kept->digest = hash_bytes(kept->digest, frame->cids, frame->cid_count * sizeof *frame->cids);
	for (size_t i = 0; i < frame->notes; i++) {
		char text[RING_COMMENT_MAX];

		ring_frame_comment(kept->ring, frame, i, text);
		kept->digest = hash_bytes(kept->digest, text, strlen(text));
	}
}

static void
start_keeping(struct kept_frames *kept, struct observer *o, const struct config *config)
{
	const struct ring_limits limits = {.memory = RING_MEMORY_MIN, .flows = config->flow_limits.flows};

	kept->ring = ring_new(&limits);
	assert_non_null(kept->ring);
	ring_set_leave_handler(kept->ring, on_kept, kept);
	ring_listener_attach(kept->ring, o, NULL);
}

/* Every frame that is not skipped as a duplicate is kept. */
static void
end_keeping(struct kept_frames *kept, struct observer *o)
{
	const struct observe_counters *counters = observer_counters(o);
	uint64_t skipped;

	observer_end_input(o);
	ring_drain(kept->ring);
	skipped = counters->loopback_duplicates + counters->lower_duplicates;
	if (kept->frames > counters->frames || kept->frames + skipped < counters->frames)
		fail_msg("%s: %lu frames of %lu are kept", capture.name, kept->frames, (unsigned long)counters->frames);
	ring_free(kept->ring);
}

static void
compare_kept(const struct kept_frames *a, const struct kept_frames *b)
{
	if (a->frames != b->frames || a->notes != b->notes)
		fail_msg("%s: %lu and %lu frames, %lu and %lu notes", capture.name, a->frames, b->frames, a->notes,
			 b->notes);
	if (a->digest != b->digest)
		fail_msg("%s: other frames are kept", capture.name);
	capture.notes += a->notes;
}

/* --- seven observers, one capture --- */

enum keeping { NO_RECORDS, FROM_START, FROM_MIDDLE, ON_AND_OFF };

/* Frames after which records are switched on, and then off. */
#define RECORDS_PERIOD 64u

struct variant {
	enum view_mode view;
	unsigned batch;	 /* frames in one go */
	uint32_t flows;	 /* so few that some are evicted, or enough */
	bool prefixes;	 /* some addresses are local */
	bool lower;	 /* duplicates of lower devices are left out */
	enum keeping records;
};

/* The observers before UNTRACED have no ring: with one, each frame is reported to it. */
enum tracing { ALONE, ALONE_COMES_AND_GOES, UNTRACED, COMES_AND_GOES, SCREENED, FORMULAS_TRACED, TRACED };

static void
start_reports(struct observer *o, struct reports *reports)
{
	reports->observer = o;
	reports->flows = o->flows;
	flow_table_set_record_handler(o->flows, on_record, reports);
}

static struct observer *
observe(const struct variant *variant, struct config *config, struct local_addrs *local_addrs,
	struct lower_dedup *dedup, enum tracing tracing, struct listener *listener, struct reports *reports,
	struct kept_frames *kept)
{
	static const struct emitter_listener receiver = {
	    .fire = on_firing, .poll = on_poll, .rejects = on_screening, .count_rejected = on_rejection};
	struct observer *o = observer_new(config, variant->view, local_addrs, NULL, 42, NULL);
	bool formulas = tracing == SCREENED || tracing == FORMULAS_TRACED;
	uint32_t random = variant->batch;
	unsigned count;

	assert_non_null(o);
	if (formulas)
		observer_set_listener(o, &receiver, listener);
	if (variant->lower)
		observer_set_lower_dedup(o, dedup);
	start_reports(o, reports);
	if (tracing >= UNTRACED)
		start_keeping(kept, o, config);
	for (unsigned at = 0; at < capture.count; at += count) {
		bool traced = tracing >= FORMULAS_TRACED;

		if (variant->records == FROM_MIDDLE && at >= capture.count / 2)
			config->records = true;
		if (variant->records == ON_AND_OFF)
			config->records = at / RECORDS_PERIOD % 2 != 0;
		count = capture.count - at < variant->batch ? capture.count - at : variant->batch;
		if (tracing == COMES_AND_GOES || tracing == ALONE_COMES_AND_GOES) {
			traced = random_below(&random, 2) == 0;
			count = 1 + random_below(&random, count);
		}
		if (formulas)
			change_formulas(semaphores_add_formula, variant->records == FROM_START);
		*probe_semaphores[PROBE_IP_PACKET_FREE] += traced;
		observe_frames(o, capture.frames + at, count);
		*probe_semaphores[PROBE_IP_PACKET_FREE] -= traced;
		if (formulas)
			change_formulas(semaphores_remove_formula, variant->records == FROM_START);
	}
	return o;
}

static void
compare_observers(const struct observer *a, const struct observer *b)
{
	struct observer_snapshot first, second;

	memset(&first, 0, sizeof first);
	memset(&second, 0, sizeof second);
	observer_snapshot_take(&first, a);
	observer_snapshot_take(&second, b);
	compare(&first, &second);
	capture.connections += first.flows.count;
	flow_snapshot_free(&first.flows);
	flow_snapshot_free(&second.flows);
}

static void
observe_seven_times(const struct variant *variant, struct lower_dedup *dedup)
{
	static const struct ip_prefix prefixes[] = {{.addr = {10}, .version = 4, .bits = 9},
						    {.addr = {192, 168, 1}, .version = 4, .bits = 24},
						    {.addr = {0x20, 0x01}, .version = 6, .bits = 17}};
	struct config config = {
	    .observe_inner = true, .flow_limits = flow_limits_default(), .app_ports = {[APP_ISCSI] = {{3260}, 1}}};
	struct local_addrs *local_addrs =
	    local_addrs_new(prefixes, variant->prefixes ? sizeof prefixes / sizeof prefixes[0] : 0);
	struct listener listeners[TRACED + 1] = {0};
	struct observer *observers[TRACED + 1];
	struct reports reports[TRACED + 1] = {0};
	struct kept_frames kept[TRACED + 1] = {0};

	assert_non_null(local_addrs);
	config.flow_limits.flows = variant->flows;
	config.active_records_ns = variant->records == NO_RECORDS ? 0 : SECOND;
	for (unsigned i = ALONE; i <= TRACED; i++) {
		config.records = variant->records == FROM_START;
		observers[i] = observe(variant, &config, local_addrs, dedup, (enum tracing)i, &listeners[i],
				       &reports[i], &kept[i]);
	}

	compare_listeners(&listeners[SCREENED], &listeners[FORMULAS_TRACED]);
	capture.rejected += listeners[SCREENED].rejected;
	for (unsigned later = 0; later < 2; later++) {
		uint64_t end = capture.count > 0 ? capture.frames[capture.count - 1].ts + 30 * SECOND : 0;

		compare_observers(observers[ALONE], observers[TRACED]);
		compare_observers(observers[ALONE_COMES_AND_GOES], observers[TRACED]);
		compare_observers(observers[UNTRACED], observers[TRACED]);
		compare_observers(observers[COMES_AND_GOES], observers[TRACED]);
		compare_observers(observers[SCREENED], observers[FORMULAS_TRACED]);
		for (unsigned i = ALONE; i <= TRACED; i++)
			observer_advance_clock(observers[i], end + later * 600 * SECOND);
	}
	for (unsigned i = ALONE; i <= TRACED; i++) {
		if (i >= UNTRACED)
			end_keeping(&kept[i], observers[i]);
		observer_free(observers[i]);
	}
	for (unsigned i = ALONE; i < TRACED; i++)
		compare_reports(&reports[i], &reports[TRACED]);
	for (unsigned i = UNTRACED; i < TRACED; i++)
		compare_kept(&kept[i], &kept[TRACED]);
	for (unsigned reason = 0; reason < RECORD_REASON_COUNT; reason++)
		capture.reports[reason] += reports[TRACED].count[reason];
	local_addrs_free(local_addrs);
}

/* Addresses of the bridge make its port's frames duplicates. */
static struct lower_dedup *
addresses_of_bridge(struct interfaces **interfaces)
{
	struct lower_dedup *dedup;

	*interfaces = interfaces_new();
	assert_non_null(*interfaces);
	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
		struct interface_info info = {.ifindex = devices[i].ifindex, .up = true, .mtu = 1500,
					   .master = devices[i].ifindex == ETH0 ? BR0 : 0};

		memcpy(info.name, devices[i].name, sizeof info.name);
		assert_true(interfaces_update(*interfaces, &info));
	}
	interfaces_notify(*interfaces);
	dedup = lower_dedup_new(*interfaces);
	assert_non_null(dedup);
	return dedup;
}

static void
read_frames(pcap_t *pcap)
{
	static const struct interface nowhere;
	struct pcap_pkthdr *header;
	const u_char *data;

	capture.count = 0;
	while (capture.count < FRAMES_MAX && pcap_next_ex(pcap, &header, &data) == 1) {
		uint8_t *copy = malloc(header->caplen + 1u);

		assert_non_null(copy);
		memcpy(copy, data, header->caplen);
		capture.frames[capture.count++] = (struct frame){
		    .data = copy,
		    .interface = &nowhere,
		    .ts = (uint64_t)header->ts.tv_sec * SECOND + (uint64_t)header->ts.tv_usec * 1000,
		    .caplen = header->caplen,
		    .len = header->len,
		    .dlt = pcap_datalink(pcap),
		};
	}
}

/* Turns Ethernet frames into those that "any" would have captured, in random directions on random devices. */
static void
become_cooked(void)
{
	uint32_t random = 1;

	for (unsigned i = 0; i < capture.count; i++) {
		static const uint8_t types[] = {0, 4, 4, 3, 0, 1, 2, 9};
		struct frame *f = &capture.frames[i];
		uint8_t *copy;

		if (f->caplen < ETHER_HEADER)
			continue;
		copy = calloc(1, SLL2_BYTES + f->caplen);
		assert_non_null(copy);
		f->interface = &devices[random_below(&random, sizeof devices / sizeof devices[0])];
		memcpy(copy, f->data + 12, 2);
		copy[7] = (uint8_t)f->interface->ifindex;
		copy[8] = f->interface->loopback ? 3 : 0; /* ARPHRD_LOOPBACK, ARPHRD_ETHER */
		copy[9] = f->interface->loopback ? 4 : 1;
		copy[10] = types[random_below(&random, sizeof types)];
		copy[11] = 6;
		memcpy(copy + SLL2_BYTES, f->data + ETHER_HEADER, f->caplen - ETHER_HEADER);
		free((void *)(uintptr_t)f->data);
		f->data = copy;
		f->dlt = DLT_LINUX_SLL2;
		f->caplen += SLL2_BYTES - ETHER_HEADER;
		f->len += SLL2_BYTES - ETHER_HEADER;
	}
}

static void
try_frames(void)
{
	static const struct variant variants[] = {
	    {VIEW_MONITOR, 128, 2000, false, false, NO_RECORDS}, {VIEW_BOTH, 1, 100000, false, false, FROM_MIDDLE},
	    {VIEW_HOST, 7, 2000, true, false, FROM_START},	   {VIEW_HOST, 128, 100000, true, true, NO_RECORDS},
	    {VIEW_HOST, 128, 2000, false, false, FROM_START},	   {VIEW_MONITOR, 1, 5, false, false, FROM_START},
	    {VIEW_HOST, 128, 5, true, true, NO_RECORDS},	   {VIEW_MONITOR, 1, 50, false, false, ON_AND_OFF},
	};
	struct interfaces *interfaces;
	struct lower_dedup *dedup = addresses_of_bridge(&interfaces);

	for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
		observe_seven_times(&variants[i], dedup);
	lower_dedup_free(dedup);
	interfaces_free(interfaces);
}

static void
try_capture(const char *directory, const char *name)
{
	char path[1024], why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap;

	snprintf(capture.name, sizeof capture.name, "%s", name);
	snprintf(path, sizeof path, "%s/%s", directory, name);
	pcap = pcap_open_offline(path, why);
	if (pcap == NULL)
		return;
	read_frames(pcap);
	try_frames();
	if (pcap_datalink(pcap) == DLT_EN10MB) {
		become_cooked();
		try_frames();
	}
	pcap_close(pcap);
	while (capture.count > 0)
		free((void *)(uintptr_t)capture.frames[--capture.count].data);
}

static void
try_all(const char *directory)
{
	struct dirent *entry;
	DIR *dir = opendir(directory);

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (strstr(entry->d_name, ".pcap") != NULL)
			try_capture(directory, entry->d_name);
	closedir(dir);
}

static void
test_every_capture(void **state)
{
	char directory[512];

	(void)state;
	snprintf(directory, sizeof directory, "%s/tests/captures", getenv("top_srcdir"));
	try_all(directory);
	assert_true(capture.connections > 1000 && capture.rejected > 5000 && capture.notes > 10000);
	for (unsigned reason = 0; reason < RECORD_REASON_COUNT; reason++)
		if (capture.reports[reason] == 0)
			fail_msg("no connection was reported for reason %u", reason);
}

/* --- local epochs --- */

/* A datagram from 192.0.2.`from` to 198.51.100.1, on Ethernet. */
static void
observe_datagram(struct observer *o, uint8_t from)
{
	static const struct interface nowhere;
	uint8_t bytes[ETHER_HEADER + 28] = {
	    [12] = 8,	[14] = 0x45, [17] = 28,	 [22] = 64, [23] = 17, [26] = 192, [28] = 2, [29] = from,
	    [30] = 198, [31] = 51,   [32] = 100, [33] = 1,  [34] = 4,  [36] = 9,   [39] = 8,
	};
	struct frame frame = {.data = bytes, .interface = &nowhere, .ts = SECOND, .caplen = sizeof bytes,
			      .len = sizeof bytes, .dlt = DLT_EN10MB};
	uint32_t sum = 0;

	for (unsigned i = 14; i < 34; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	bytes[24] = (uint8_t)(sum >> 8);
	bytes[25] = (uint8_t)sum;
	observe_frames(o, &frame, 1);
}

static void
take_locality(void *context, const struct flow *flow)
{
	unsigned *local = context; /* by the sender's last byte */

	local[flow->key.addr[0][0] == 192 ? flow->key.addr[0][3] : flow->key.addr[1][3]] = flow->local;
}

/* However often local addresses have changed, a flow on the fast path becomes local. */
static void
test_epochs_repeat(void **state)
{
	static const uint8_t here[16] = {192, 0, 2, 7}, other[16] = {203, 0, 113, 1};
	struct config config = {.flow_limits = flow_limits_default()};
	unsigned changes[] = {62, 63, 64, 254, 255, 256, 65534, 65535, 65536};

	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		struct local_addrs *local_addrs = local_addrs_new(NULL, 0);
		struct observer *o;
		unsigned local[256] = {0};

		assert_non_null(local_addrs);
		config.flow_limits.flows = 100;
		o = observer_new(&config, VIEW_HOST, local_addrs, NULL, 42, NULL);
		assert_non_null(o);
		observe_datagram(o, 7);
		observe_datagram(o, 7);
		for (unsigned n = 1; n < changes[i]; n++) {
			if (n % 2 == 1)
				assert_true(local_addrs_add(local_addrs, 4, other));
			else
				local_addrs_remove(local_addrs, 4, other);
			observe_datagram(o, 8);
		}
		assert_true(local_addrs_add(local_addrs, 4, here));
		observe_datagram(o, 7);
		flow_table_visit(observer_flows(o), take_locality, local);
		assert_true(local[7] == 1 || local[7] == 2);
		assert_int_equal(local[8], 0);
		observer_free(o);
		local_addrs_free(local_addrs);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_capture), cmocka_unit_test(test_epochs_repeat)};

	/* glibc would raise it at the first free(), and clear the memory of each table instead of mapping zeros. */
	mallopt(M_MMAP_THRESHOLD, 65536);
	for (int i = 1; i < argc; i++)
		try_all(argv[i]);
	return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
