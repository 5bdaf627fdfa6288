/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same frames through two observers: one has a probe enabled all the time, which forces the slow path for every
 * frame, the other takes the fast path whenever it can.  Tracers come and go, local addresses and lower devices change,
 * time leaps.  Counters, flow tables and all output of the tracers must be equal.
 *
 * The first byte chooses view, table size and prefixes.  Then come records: a byte whose low 3 bits are the operation
 * (enum operation) and whose high 5 bits are its argument, and what the operation needs.
 */
#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/lower_dedup.h"
#include "observe/observer.h"
#include "flow/reassembly/reassembly.h"
#include "probes/print/print.h"
#include "probes/sites.h"
#include "tests/observe/flow_snapshot.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MILLISECOND 1000000ull
#define BEGIN	    (1600000000ull * NANOSECONDS)

enum operation {
	MADE_FRAME,	  /* 4 bytes: a frame of a known flow; the argument is the time since the last */
	MADE_FRAME_TOO,	  /* likewise, so that most records are frames */
	MADE_FRAME_THREE, /* likewise */
	RAW_FRAME,	  /* link and device, 2 bytes of length, the frame */
	TRACER,		  /* 1 byte: enabled probes; the batch ends before it, as before all that follow */
	ADDRESS,	  /* argument: an address becomes local, or ceases to be */
	DEVICE,		  /* argument: an interface becomes a port of the bridge, a VLAN carrier, or neither */
	TIME,		  /* argument: time leaps, and timers run */
};

enum { FRAME_MAX = 2048, FLOWS_MAX = 64, TUPLES = 32 };

/* The probe that forces the slow path; the printers do not print it. */
#define FORCE PROBE_IP_PACKET_FREE

static const uint8_t addresses[8][16] = {
    {10, 0, 0, 1},		     {10, 0, 0, 2},		    {203, 0, 113, 9},	{127, 0, 0, 1},
    {0x20, 1, 0xd, 0xb8, [15] = 1}, {0x20, 1, 0xd, 0xb8, [15] = 2}, {0xfe, 0x80, [15] = 9}, {[15] = 1}};

static const struct interface devices[4] = {{.ifindex = 1, .name = "lo", .loopback = true},
					    {.ifindex = 2, .name = "eth0"},
					    {.ifindex = 3, .name = "br0"},
					    {.ifindex = 67, .name = "eth1"}};

static struct {
	struct config config;
	struct local_addrs *locals;
	struct interfaces *interfaces;
	struct lower_dedup *dedup;
	struct observer *slow, *fast;
	bool local[8];
	uint8_t state[4]; /* of the devices: 1 port, 2 VLAN carrier, 3 ifb, PPP or GRE device */
	uint64_t now;
	uint32_t next[TUPLES][2]; /* sequence numbers that either end sends next */
	unsigned count;		  /* frames of the batch */
	struct frame frames[FRAME_SINK_FRAMES_MAX];
	uint8_t *bytes[FRAME_SINK_FRAMES_MAX];
	uint8_t enabled; /* patterns of probes */
} run;

static struct {
	struct printer *slow, *fast;
	int slow_fd, fast_fd;
} print;

/* ----------------------------------------------------------------------------------------------- the two observers */

/* Sets the semaphores as tracers would: each bit of `run.enabled` stands for every eighth probe. */
static void
set_tracers(bool forced)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		*probe_semaphores[i] = (unsigned short)(i == FORCE ? forced : run.enabled >> i % 8 & 1);
}

static void
flush_batch(void)
{
	if (run.count == 0)
		return;
	set_tracers(true);
	observe_frames(run.slow, run.frames, run.count);
	set_tracers(false);
	observe_frames(run.fast, run.frames, run.count);
	for (unsigned i = 0; i < run.count; i++)
		free(run.bytes[i]);
	run.count = 0;
	must(memcmp(observer_counters(run.slow), observer_counters(run.fast), sizeof(struct observe_counters)) == 0);
}

static void
advance(void)
{
	set_tracers(true);
	observer_advance_clock(run.slow, run.now);
	set_tracers(false);
	observer_advance_clock(run.fast, run.now);
}

static void
compare_tables(void)
{
	struct flow_snapshot slow, fast;

	flow_snapshot_take(&slow, observer_flows(run.slow));
	flow_snapshot_take(&fast, observer_flows(run.fast));
	must(memcmp(flow_table_counters(slow.table), flow_table_counters(fast.table), sizeof(struct flow_counters)) ==
	     0);
	must(flow_snapshot_difference(&slow, &fast) == 0);
	flow_snapshot_free(&slow);
	flow_snapshot_free(&fast);
	must(memcmp(observer_reassembly_counters(run.slow), observer_reassembly_counters(run.fast),
		    sizeof(struct reassembly_counters)) == 0);
}

static void
compare_firings(void)
{
	off_t length;
	char *slow, *fast;

	printer_flush(print.slow);
	printer_flush(print.fast);
	must(printer_error(print.slow) == 0 && printer_error(print.fast) == 0);
	length = lseek(print.slow_fd, 0, SEEK_END);
	must(length == lseek(print.fast_fd, 0, SEEK_END));
	slow = malloc((size_t)length + 1);
	fast = malloc((size_t)length + 1);
	must(slow != NULL && fast != NULL);
	must(pread(print.slow_fd, slow, (size_t)length, 0) == length);
	must(pread(print.fast_fd, fast, (size_t)length, 0) == length);
	must(memcmp(slow, fast, (size_t)length) == 0);
	free(slow);
	free(fast);
}

/* ---------------------------------------------------------------------------------------------------------- frames */

/* A frame of the batch with so many bytes captured, to be filled in. */
static struct frame *
add_frame(uint32_t captured, uint32_t wire, int dlt, const struct interface *interface)
{
	struct frame *frame;

	if (run.count == FRAME_SINK_FRAMES_MAX)
		flush_batch();
	frame = &run.frames[run.count];
	run.bytes[run.count] = calloc(1, captured + !captured);
	must(run.bytes[run.count] != NULL);
	*frame = (struct frame){.data = run.bytes[run.count], .interface = interface, .ts = run.now, .caplen = captured,
				.len = wire, .dlt = dlt};
	run.count++;
	return frame;
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void
put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

/* Writes a link header before an IP packet.  Gives its length; `*dlt` is its type. */
static uint32_t
put_link(uint8_t *at, unsigned link, const struct interface *device, unsigned packet_type, bool ipv6, int *dlt)
{
	static const int types[8] = {DLT_EN10MB,     DLT_LINUX_SLL2, DLT_LINUX_SLL2, DLT_LINUX_SLL,
				     DLT_EN10MB,     DLT_NULL,	     DLT_RAW,	     DLT_IPV4};
	static const uint8_t packet_types[8] = {0, 4, 0, 4, 3, 1, 2, 7};
	uint32_t type = ipv6 ? 0x86dd : 0x0800, hardware = device->loopback ? 772 : 1;

	*dlt = types[link];
	switch (link) {
	case 1:
	case 2:
		put16(at, type);
		put32(at + 4, device->ifindex);
		put16(at + 8, hardware);
		at[10] = packet_types[packet_type];
		return 20;
	case 3:
		put16(at, packet_types[packet_type]);
		put16(at + 2, hardware);
		put16(at + 14, type);
		return 16;
	case 4:
		put32(at + 12, 0x81000005);
		put16(at + 16, type);
		return 18;
	case 5:
		put32(at, ipv6 ? 30 : 2);
		return 4;
	case 6:
		return 0;
	case 7:
		*dlt = ipv6 ? DLT_IPV6 : DLT_IPV4;
		return 0;
	default:
		at[5] = at[11] = 2;
		put16(at + 12, type);
		return 14;
	}
}

static uint32_t
put_ip(uint8_t *at, const uint8_t *src, const uint8_t *dst, uint8_t protocol, uint32_t payload, bool ipv6)
{
	uint32_t sum = 0;

	if (ipv6) {
		at[0] = 0x60;
		put16(at + 4, payload);
		at[6] = protocol;
		at[7] = 64;
		memcpy(at + 8, src, 16);
		memcpy(at + 24, dst, 16);
		return 40;
	}
	at[0] = 0x45;
	put16(at + 2, payload + 20);
	at[8] = 64;
	at[9] = protocol;
	memcpy(at + 12, src, 4);
	memcpy(at + 16, dst, 4);
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(at + 10, ~((sum & 0xffff) + (sum >> 16)));
	return 20;
}

/* What a segment adds to the expected numbers; most are as expected. */
static uint32_t
offset_of(unsigned which)
{
	static const uint32_t offsets[8] = {0, 0, 0, 0, 0, 1448, (uint32_t)-1448, 1};

	return offsets[which & 7];
}

/* `bytes`: device, link and direction; tuple and sender; flags and length; offsets of the numbers. */
static void
make_frame(const uint8_t *bytes)
{
	static const uint8_t flags[8] = {0x10, 0x10, 0x18, 0x10, 0x02, 0x12, 0x11, 0x14};
	static const uint16_t lengths[8] = {0, 0, 1, 10, 100, 536, 1200, 1448};
	static const uint16_t ports[8] = {80, 443, 53, 3260, 3196, 4789, 6000, 22};
	unsigned tuple = bytes[1] & 31, from = bytes[1] >> 5 & 1, other = tuple & 7;
	bool ipv6 = (tuple & 8) != 0, udp = (tuple & 16) != 0, stamps = (bytes[1] & 0x40) != 0;
	unsigned first = ipv6 ? 4 : 0;
	const uint8_t *ends[2] = {addresses[first + (tuple & 3)], addresses[first + (tuple + 1 + other / 4) % 4]};
	uint16_t port[2] = {(uint16_t)(1024 + tuple), ports[other]};
	uint32_t header = udp ? 8 : stamps ? 32 : 20, length = lengths[bytes[2] >> 3 & 7], at;
	uint32_t *next = run.next[tuple];
	uint8_t flag = flags[bytes[2] & 7], made[FRAME_MAX] = {0};
	const struct interface *device = &devices[bytes[0] & 3];
	struct frame *frame;
	int dlt;

	at = put_link(made, bytes[0] >> 2 & 7, device, bytes[0] >> 5, ipv6, &dlt);
	at += put_ip(made + at, ends[from], ends[1 - from], udp ? 17 : 6, header + length, ipv6);
	put16(made + at, port[from]);
	put16(made + at + 2, port[1 - from]);
	if (udp) {
		put16(made + at + 4, header + length);
	} else {
		put32(made + at + 4, next[from] + offset_of(bytes[3]));
		put32(made + at + 8, next[1 - from] + offset_of(bytes[3] >> 3));
		made[at + 12] = (uint8_t)(header << 2);
		made[at + 13] = flag;
		put16(made + at + 14, 500);
		if (stamps)
			put32(made + at + 20, 0x0101080a);
		if ((bytes[3] & 7) < 5)
			next[from] += length + ((flag & 3) != 0);
	}
	if ((bytes[2] & 0xc0) == 0xc0) /* one bit inverted */
		made[(bytes[3] * 7u) % (at + header)] ^= (uint8_t)(1u << (bytes[3] >> 5));
	at += header;
	frame = add_frame(at + (length < 8 ? length : 8), at + length, dlt, device);
	memcpy(run.bytes[run.count - 1], made, frame->caplen);
}

static void
take_raw_frame(uint8_t how, const uint8_t *bytes, uint32_t length)
{
	static const int types[8] = {DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2, DLT_NULL,
				     DLT_LOOP,	 DLT_RAW,	DLT_IPV4,	DLT_IPV6};

	add_frame(length, length + (how >> 5) * 500u, types[how & 7], &devices[how >> 3 & 3]);
	memcpy(run.bytes[run.count - 1], bytes, length);
}

/* --------------------------------------------------------------------------------------------------- what changes */

static void
change_address(unsigned which)
{
	const uint8_t *address = addresses[which & 7];
	uint8_t version = (which & 4) != 0 ? 6 : 4;
	uint32_t device = devices[which >> 3].ifindex;

	if (run.local[which & 7]) {
		local_addrs_remove(run.locals, version, address);
		for (size_t i = 0; i < 4; i++)
			lower_dedup_remove_address(run.dedup, devices[i].ifindex, version, address);
	} else {
		must(local_addrs_add(run.locals, version, address));
		must(lower_dedup_add_address(run.dedup, device, version, address));
	}
	run.local[which & 7] = !run.local[which & 7];
}

/* br0 is the upper device of the ports; a VLAN device, 5, is on a carrier. */
static void
change_device(unsigned which)
{
	unsigned n = which & 3;
	struct interface_info info = {.ifindex = devices[n].ifindex, .up = true, .mtu = 1500};
	struct interface_info vlan = {.ifindex = 5, .mtu = 1500};

	run.state[n] = (uint8_t)(which >> 2 & 3);
	info.master = run.state[n] == 1 && n != 2 ? devices[2].ifindex : 0;
	memcpy(info.name, devices[n].name, sizeof info.name);
	info.redirects = run.state[n] == 3 && n == 0;
	info.ppp = run.state[n] == 3 && n == 1;
	if (run.state[n] == 3 && n == 3)
		info.tunnel = (struct tunnel_device){.inner = INNER_IP, .version = 4, .protocol = 47};
	must(interfaces_update(run.interfaces, &info));
	vlan.up = run.state[n] == 2;
	vlan.carrier = devices[n].ifindex;
	memcpy(vlan.name, "vlan", 5);
	must(interfaces_update(run.interfaces, &vlan));
	interfaces_notify(run.interfaces);
}

static void
change_time(unsigned how)
{
	static const uint64_t steps[8] = {1, MILLISECOND, 300 * MILLISECOND, 3 * NANOSECONDS, 40 * NANOSECONDS,
					  200 * NANOSECONDS, 4000 * NANOSECONDS, 0};

	run.now += steps[how & 7];
	if ((how & 24) == 24)
		run.now -= 5 * NANOSECONDS; /* as some captures do */
	else
		advance();
}

/* Applies one record.  Gives its length, 0 at the end. */
static size_t
apply(const uint8_t *data, size_t size)
{
	unsigned argument = data[0] >> 3;
	uint32_t length;

	switch ((enum operation)(data[0] & 7)) {
	case MADE_FRAME:
	case MADE_FRAME_TOO:
	case MADE_FRAME_THREE:
		if (size < 5)
			return 0;
		run.now += argument * argument * 50000ull;
		make_frame(data + 1);
		return 5;
	case RAW_FRAME:
		length = size < 4 ? 0 : ((uint32_t)data[2] << 8 | data[3]) % FRAME_MAX;
		if (size < 4 + (size_t)length)
			return 0;
		run.now += argument * MILLISECOND;
		take_raw_frame(data[1], data + 4, length);
		return 4 + (size_t)length;
	case TRACER:
		flush_batch();
		run.enabled = size > 1 && argument % 2 == 0 ? data[1] : 0;
		return 2;
	case ADDRESS:
		flush_batch();
		change_address(argument);
		return 1;
	case DEVICE:
		flush_batch();
		change_device(argument);
		return 1;
	case TIME:
		flush_batch();
		change_time(argument);
		return 1;
	}
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- an input */

static void
set_up(uint8_t how)
{
	static const struct ip_prefix prefix = {.addr = {10, 0, 0}, .version = 4, .bits = 31};
	static const enum view_mode views[4] = {VIEW_HOST, VIEW_HOST, VIEW_BOTH, VIEW_MONITOR};

	memset(&run, 0, sizeof run);
	run.now = BEGIN;
	run.config =
	    (struct config){.observe_inner = true, .flow_limits = flow_limits_default(),
			    .app_ports = {[APP_ISCSI] = {{3260}, 1}}};
	run.config.flow_limits.flows = (how & 4) != 0 ? FLOWS_MAX : 16;
	run.locals = local_addrs_new(&prefix, how >> 3 & 1);
	run.interfaces = interfaces_new();
	must(run.locals != NULL && run.interfaces != NULL);
	run.dedup = lower_dedup_new(run.interfaces);
	must(run.dedup != NULL);
	for (unsigned i = 0; i < 4; i++)
		change_device(i);
	run.slow = observer_new(&run.config, views[how & 3], run.locals, print.slow, 42, NULL);
	run.fast = observer_new(&run.config, views[how & 3], run.locals, print.fast, 42, NULL);
	must(run.slow != NULL && run.fast != NULL);
	if ((how & 16) != 0) {
		observer_set_lower_dedup(run.slow, run.dedup);
		observer_set_lower_dedup(run.fast, run.dedup);
	}
	must(ftruncate(print.slow_fd, 0) == 0 && ftruncate(print.fast_fd, 0) == 0);
	must(lseek(print.slow_fd, 0, SEEK_SET) == 0 && lseek(print.fast_fd, 0, SEEK_SET) == 0);
}

static void
make_printers(void)
{
	bool chosen[PROBE_COUNT];

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		chosen[i] = i != FORCE;
	print.slow_fd = memfd_create("slow", 0);
	print.fast_fd = memfd_create("fast", 0);
	print.slow = printer_new(print.slow_fd, PRINT_JSON, chosen);
	print.fast = printer_new(print.fast_fd, PRINT_JSON, chosen);
	must(print.slow_fd >= 0 && print.fast_fd >= 0 && print.slow != NULL && print.fast != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 1, step;

	if (size < 2)
		return 0;
	if (print.slow == NULL)
		make_printers();
	set_up(data[0]);
	while (at < size && (step = apply(data + at, size - at)) != 0)
		at += step;
	flush_batch();
	compare_tables();
	run.now += 40 * NANOSECONDS;
	advance();
	compare_tables();
	set_tracers(true);
	observer_end_input(run.slow);
	set_tracers(false);
	observer_end_input(run.fast);
	compare_tables();
	compare_firings();
	observer_free(run.slow);
	observer_free(run.fast);
	lower_dedup_free(run.dedup);
	interfaces_free(run.interfaces);
	local_addrs_free(run.locals);
	return 0;
}
