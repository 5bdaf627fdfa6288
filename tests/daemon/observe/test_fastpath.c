/* SPDX-License-Identifier: BSD-2-Clause */
/* Enabling a probe makes no difference to the state: every capture is observed once untraced and once with a probe
 * enabled, and the connections and counters of both runs are compared.  Directories of more captures may be given as
 * arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <pcap/pcap.h>

#include "daemon/observe/observer.h"
#include "flow/reassembly/reassembly.h"
#include "probes/sites.h"

#define FRAMES_MAX 20000u
#define SECOND 1000000000ull

static struct {
	char name[256];
	struct frame frames[FRAMES_MAX];
	unsigned count;
	unsigned long connections; /* of all captures */
} capture;

/* --- what one observer knows --- */

struct known {
	struct flow *flows; /* in the order of their connection ids */
	uint64_t *ids;
	uint64_t *starts;
	unsigned count, room;
	const struct flow_table *table;
	struct flow_counters counters;
	struct observe_counters observed;
};

static void
take_flow(void *context, const struct flow *flow)
{
	struct known *k = context;
	uint64_t id = flow_cid(k->table, flow, 0);
	unsigned at = k->count++;

	assert_true(k->count <= k->room);
	for (; at > 0 && k->ids[at - 1] > id; at--) {
		k->ids[at] = k->ids[at - 1];
		k->starts[at] = k->starts[at - 1];
		k->flows[at] = k->flows[at - 1];
	}
	k->ids[at] = id;
	k->starts[at] = flow_first_seen(k->table, flow);
	k->flows[at] = *flow;
	k->flows[at].local_epoch = 0; /* used by a glance only */
}

static void
know(struct known *k, const struct observer *o)
{
	k->table = observer_flows(o);
	k->counters = *flow_table_counters(k->table);
	k->counters.longest_probe = 0; /* depends on when expired flows are removed, which has no other effect */
	k->observed = *observer_counters(o);
	k->room = (unsigned)k->counters.flows;
	k->flows = calloc(k->room + 1u, sizeof *k->flows);
	k->ids = calloc(k->room + 1u, sizeof *k->ids);
	k->starts = calloc(k->room + 1u, sizeof *k->starts);
	assert_true(k->flows != NULL && k->ids != NULL && k->starts != NULL);
	flow_table_visit(k->table, take_flow, k);
}

static void
forget(struct known *k)
{
	free(k->flows);
	free(k->ids);
	free(k->starts);
}

static void
compare(const struct known *a, const struct known *b)
{
	if (memcmp(&a->observed, &b->observed, sizeof a->observed) != 0)
		fail_msg("%s: other counters", capture.name);
	if (memcmp(&a->counters, &b->counters, sizeof a->counters) != 0)
		fail_msg("%s: other counters of the flow table", capture.name);
	assert_int_equal(a->count, b->count);
	for (unsigned i = 0; i < a->count; i++)
		if (a->ids[i] != b->ids[i] || a->starts[i] != b->starts[i] ||
		    memcmp(&a->flows[i], &b->flows[i], sizeof a->flows[i]) != 0)
			fail_msg("%s: connection %lu is another", capture.name, (unsigned long)a->ids[i]);
}

/* --- two observers, one capture --- */

struct way {
	enum view_mode view;
	unsigned batch;	 /* frames in one go */
	uint32_t flows;	 /* so few that some are evicted, or enough */
	bool prefixes;	 /* some addresses are local */
};

static struct observer *
observe(const struct way *way, const struct config *config, struct local_addrs *local_addrs, bool closely)
{
	struct observer *o = observer_new(config, way->view, local_addrs, NULL, 42, NULL);

	assert_non_null(o);
	*probe_semaphores[PROBE_IP_PACKET_FREE] += closely;
	for (unsigned at = 0; at < capture.count; at += way->batch) {
		unsigned left = capture.count - at;

		observe_frames(o, capture.frames + at, left < way->batch ? left : way->batch);
	}
	*probe_semaphores[PROBE_IP_PACKET_FREE] -= closely;
	return o;
}

static void
observe_both_ways(const struct way *way)
{
	static const struct ip_prefix prefixes[] = {{.addr = {10}, .version = 4, .bits = 9},
						    {.addr = {192, 168, 1}, .version = 4, .bits = 24},
						    {.addr = {0x20, 0x01}, .version = 6, .bits = 17}};
	struct config config = {
	    .observe_inner = true, .flow_limits = flow_limits_default(), .app_ports = {[APP_ISCSI] = {{3260}, 1}}};
	struct local_addrs *local_addrs =
	    local_addrs_new(prefixes, way->prefixes ? sizeof prefixes / sizeof prefixes[0] : 0);
	struct observer *glancing, *close;
	struct known a, b;

	assert_non_null(local_addrs);
	config.flow_limits.flows = way->flows;
	glancing = observe(way, &config, local_addrs, false);
	close = observe(way, &config, local_addrs, true);
	for (unsigned later = 0; later < 2; later++) {
		memset(&a, 0, sizeof a);
		memset(&b, 0, sizeof b);
		know(&a, glancing);
		know(&b, close);
		compare(&a, &b);
		capture.connections += a.count;
		forget(&a);
		forget(&b);
		if (capture.count > 0) {
			uint64_t end = capture.frames[capture.count - 1].ts + 30 * SECOND;

			observer_advance_clock(glancing, end);
			observer_advance_clock(close, end);
		}
	}
	observer_free(glancing);
	observer_free(close);
	local_addrs_free(local_addrs);
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

static void
try_capture(const char *directory, const char *name)
{
	static const struct way ways[] = {
	    {VIEW_MONITOR, 128, 100000, false}, {VIEW_BOTH, 1, 100000, false},	{VIEW_HOST, 7, 100000, true},
	    {VIEW_HOST, 128, 100000, true},	{VIEW_MONITOR, 1, 5, false},	{VIEW_HOST, 1, 5, true},
	};
	char path[1024], why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap;

	snprintf(capture.name, sizeof capture.name, "%s", name);
	snprintf(path, sizeof path, "%s/%s", directory, name);
	pcap = pcap_open_offline(path, why);
	if (pcap == NULL)
		return;
	read_frames(pcap);
	pcap_close(pcap);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		observe_both_ways(&ways[i]);
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
	assert_true(capture.connections > 1000);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_capture)};

	for (int i = 1; i < argc; i++)
		try_all(argv[i]);
	return cmocka_run_group_tests_name("glance", tests, NULL, NULL);
}
