/* SPDX-License-Identifier: BSD-2-Clause */
/* Application providers as tracers come and go: what is read, what fires, and which connections take the slow path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "apps/app.h"
#include "observe/app_layer.h"
#include "observe/observer.h"
#include "probes/fire.h"
#include "probes/firing.h"
#include "probes/netobs.h"
#include "probes/site/semaphores.h"

#define SECOND UINT64_C(1000000000)

/* What is counted and kept of the firings. */
static struct {
	unsigned long fired[PROBE_COUNT];
	char name[300]; /* cr_name_from and cr_name of the last connection that had one */
} got;

static struct config config;
static struct local_addrs *local_addrs;
static struct observer *o;

static void
on_firing(void *context, struct firing *firing)
{
	const struct connrec *cr;

	(void)context;
	got.fired[firing->probe]++;
	if (firing->probe != PROBE_CONNECTION_END)
		return;
	cr = firing_argument(firing, 0);
	if (cr->cr_name[0] != '\0')
		snprintf(got.name, sizeof got.name, "%s %s", cr->cr_name_from, cr->cr_name);
}

static void
on_poll(void *context)
{
	(void)context;
}

static int
begin(void **state)
{
	static const struct emitter_listener listener = {.fire = on_firing, .poll = on_poll};

	(void)state;
	memset(&got, 0, sizeof got);
	config = (struct config){.observe_inner = true, .flow_limits = flow_limits_default(),
				 .app_timeout_ns = 5 * SECOND};
	for (unsigned i = 0; i < APP_COUNT; i++)
		config.app_ports[i] = app_protocols[i]->ports;
	config.flow_limits.flows = 1000;
	local_addrs = local_addrs_new(NULL, 0);
	o = observer_new(&config, VIEW_BOTH, local_addrs, NULL, 42, NULL);
	if (o == NULL)
		return 1;
	observer_set_listener(o, &listener, NULL);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	observer_free(o);
	local_addrs_free(local_addrs);
	return 0;
}

/* Which frames of a capture are observed: numbers from 0, and a time that is added. */
struct part {
	unsigned from, to;
	uint64_t later;
	bool (*is_skipped)(const u_char *data, unsigned length); /* NULL: none */
};

static void
observe_part(const char *name, struct part part)
{
	static const struct interface nowhere;
	char path[1024], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *data;
	pcap_t *pcap;

	snprintf(path, sizeof path, "%s/tests/captures/%s", getenv("top_srcdir"), name);
	pcap = pcap_open_offline(path, error);
	assert_non_null(pcap);
	for (unsigned number = 0; pcap_next_ex(pcap, &header, &data) == 1; number++) {
		struct frame frame = {.data = data,
				      .interface = &nowhere,
				      .ts = (uint64_t)header->ts.tv_sec * SECOND +
					    (uint64_t)header->ts.tv_usec * 1000 + part.later,
				      .caplen = header->caplen,
				      .len = header->len,
				      .dlt = pcap_datalink(pcap)};

		if (number < part.from || number >= part.to ||
		    (part.is_skipped != NULL && part.is_skipped(data, header->caplen)))
			continue;
		observe_frames(o, &frame, 1);
	}
	pcap_close(pcap);
}

static const struct part whole = {.to = UINT32_MAX};

/* --- tracers --- */

static void
test_nothing_is_read_without_a_tracer(void **state)
{
	(void)state;
	observe_part("http.pcap", whole);
	assert_true(app_flow_table_counters(observer_app_layer(o)->app_flows[APP_HTTP])->begun == 0);
}

static void
test_a_tracer_from_the_beginning(void **state)
{
	(void)state;
	semaphores_add_formula(PROBE_HTTP_REQUEST_DONE);
	observe_part("http.pcap", whole);
	semaphores_remove_formula(PROBE_HTTP_REQUEST_DONE);
	assert_true(got.fired[PROBE_HTTP_REQUEST_DONE] > 50);
	assert_true(got.fired[PROBE_HTTP_REQUEST_START] == 0);
}

/* The connections that are open when a tracer attaches are read, too. */
static void
test_a_tracer_in_mid_run(void **state)
{
	const struct app_flow_counters *counters = app_flow_table_counters(observer_app_layer(o)->app_flows[APP_HTTP]);
	unsigned long first;

	(void)state;
	observe_part("http.pcap", (struct part){.to = 100});
	semaphores_add_formula(PROBE_HTTP_REQUEST_DONE);
	observe_part("http.pcap", (struct part){.from = 100, .to = 200});
	first = got.fired[PROBE_HTTP_REQUEST_DONE];
	assert_true(first > 0);
	/* What was read is dropped, and read again in mid-stream. */
	semaphores_remove_formula(PROBE_HTTP_REQUEST_DONE);
	observe_part("http.pcap", (struct part){.from = 200, .to = 300});
	assert_true(got.fired[PROBE_HTTP_REQUEST_DONE] == first);
	assert_int_equal(counters->active, 0);
	semaphores_add_formula(PROBE_HTTP_REQUEST_DONE);
	observe_part("http.pcap", (struct part){.from = 300, .to = UINT32_MAX});
	semaphores_remove_formula(PROBE_HTTP_REQUEST_DONE);
	assert_true(got.fired[PROBE_HTTP_REQUEST_DONE] > first);
}

/* Records give names; a tracer that attaches later gets the requests of connections that have a name. */
static void
test_names_and_a_tracer(void **state)
{
	(void)state;
	semaphores_add_formula(PROBE_CONNECTION_END);
	observe_part("http.pcap", (struct part){.to = 300});
	assert_string_equal(got.name, "http netobs.example");
	assert_true(got.fired[PROBE_HTTP_REQUEST_DONE] == 0);
	semaphores_add_formula(PROBE_HTTP_REQUEST_DONE);
	observe_part("http.pcap", (struct part){.from = 300, .to = UINT32_MAX});
	assert_true(got.fired[PROBE_HTTP_REQUEST_DONE] > 0);
	semaphores_remove_formula(PROBE_HTTP_REQUEST_DONE);
	semaphores_remove_formula(PROBE_CONNECTION_END);
}

/* --- the protocol of a connection --- */

static unsigned long
count_hellos(bool ports_only)
{
	got.fired[PROBE_TLS_CLIENT_HELLO] = 0;
	config.ports_only = ports_only;
	semaphores_add_formula(PROBE_TLS_CLIENT_HELLO);
	observe_part("tls.pcap", whole);
	semaphores_remove_formula(PROBE_TLS_CLIENT_HELLO);
	return got.fired[PROBE_TLS_CLIENT_HELLO];
}

/* Of nine hellos of the capture three are on ports 4443 and 4444. */
static void
test_first_bytes(void **state)
{
	(void)state;
	assert_int_equal(count_hellos(false), 9);
}

static void
test_ports_only(void **state)
{
	(void)state;
	assert_int_equal(count_hellos(true), 6);
}

/* --- timeouts --- */

/* Payload of TCP from port 53, Ethernet and IPv4. */
static bool
is_answer_on_tcp(const u_char *data, unsigned length)
{
	unsigned tcp = 14 + (data[14] & 15u) * 4, total = (unsigned)data[16] << 8 | data[17];

	if (length < tcp + 20 || data[23] != 6)
		return false;
	return data[tcp] == 0 && data[tcp + 1] == 53 && 14 + total > tcp + (unsigned)(data[tcp + 12] >> 4) * 4;
}

/* The connections have ended, and are not read any more, when their queries time out. */
static void
test_timeout_after_the_end_of_a_connection(void **state)
{
	(void)state;
	semaphores_add_formula(PROBE_DNS_TIMEOUT);
	observe_part("dns-tcp.pcap", (struct part){.to = UINT32_MAX, .is_skipped = is_answer_on_tcp});
	assert_int_equal(got.fired[PROBE_DNS_TIMEOUT], 0);
	observe_part("dns-tcp.pcap", (struct part){.to = 1, .later = 6 * SECOND});
	semaphores_remove_formula(PROBE_DNS_TIMEOUT);
	assert_int_equal(got.fired[PROBE_DNS_TIMEOUT], 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_nothing_is_read_without_a_tracer),
	    TEST(test_a_tracer_from_the_beginning),
	    TEST(test_a_tracer_in_mid_run),
	    TEST(test_names_and_a_tracer),
	    TEST(test_first_bytes),
	    TEST(test_ports_only),
	    TEST(test_timeout_after_the_end_of_a_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
