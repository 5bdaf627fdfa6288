/* SPDX-License-Identifier: BSD-2-Clause */
/* The listener of an emitter receives the firings that tracers receive, with the same arguments, whichever of them it
 * reads first; what it does not read is not built, and its firings are not those of the probe. */
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
#include "observe/observer.h"
#include "probes/fire.h"
#include "probes/firing.h"
#include "probes/manifest.h"
#include "probes/print/print.h"
#include "probes/site/semaphores.h"

#define SECOND 1000000000ull

/* What a test's listener does with the firings of one observer. */
struct listener {
	struct printer *printer; /* NULL: firings are only counted */
	uint32_t random;
	bool reads;
	unsigned polls;
	uint64_t fired[PROBE_COUNT], built;
};

static uint32_t
random_below(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * limit >> 32);
}

/* Reads arguments in random order, some of them twice, then all. */
static void
on_firing(void *context, struct firing *firing)
{
	struct listener *l = context;
	unsigned count = manifest_probes[firing->probe].arg_count;

	l->fired[firing->probe]++;
	for (unsigned i = 0; l->reads && i < 3; i++)
		firing_argument(firing, random_below(&l->random, count));
	for (unsigned i = 0; i < count; i++)
		l->built += firing->built >> i & 1;
	if (l->printer == NULL)
		return;
	firing_complete(firing, l->fired[firing->probe]);
	for (unsigned i = count; i < 6; i++) /* the site of a formula passes six */
		assert_null(firing->args[i]);
	printer_print_firing(l->printer, firing->probe, firing->args);
}

static void
on_poll(void *context)
{
	struct listener *l = context;

	l->polls++;
}

static void
add_tracers(int count)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		*probe_semaphores[i] = (unsigned short)(*probe_semaphores[i] + count);
}

static void
add_formulas(void)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		semaphores_add_formula(i);
}

static void
remove_formulas(void)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		semaphores_remove_formula(i);
}

/* Observes a capture: `tracer` prints the firings of tracers, the listener prints its own. */
static void
observe_capture(const char *name, struct printer *tracer, struct listener *l)
{
	static const struct emitter_listener listener = {.fire = on_firing, .poll = on_poll};
	static const struct interface nowhere;
	struct config config = {
	    .observe_inner = true, .flow_limits = flow_limits_default(), .app_ports = {[APP_ISCSI] = {{3260}, 1}}};
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);
	char path[1024], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	struct observer *o;
	const u_char *data;
	pcap_t *pcap;

	snprintf(path, sizeof path, "%s/tests/captures/%s", getenv("top_srcdir"), name);
	pcap = pcap_open_offline(path, error);
	config.flow_limits.flows = 1000;
	o = observer_new(&config, VIEW_BOTH, local_addrs, tracer, 42, NULL);
	assert_true(pcap != NULL && local_addrs != NULL && o != NULL);
	observer_set_listener(o, l != NULL ? &listener : NULL, l);
	while (pcap_next_ex(pcap, &header, &data) == 1) {
		struct frame frame = {.data = data,
				      .interface = &nowhere,
				      .ts = (uint64_t)header->ts.tv_sec * SECOND +
					    (uint64_t)header->ts.tv_usec * 1000,
				      .caplen = header->caplen,
				      .len = header->len,
				      .dlt = pcap_datalink(pcap)};

		observe_frames(o, &frame, 1);
	}
	observer_end_input(o);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		assert_true(tracer != NULL || emitter_firings(observer_emitter(o), (enum probe_id)i) == 0);
	observer_free(o);
	local_addrs_free(local_addrs);
	pcap_close(pcap);
}

/* Makes a printer of all probes to a temporary file; it does not count as a tracer. */
static struct printer *
make_printer(FILE **file)
{
	struct printer *printer;
	bool all[PROBE_COUNT];

	memset(all, true, sizeof all);
	*file = tmpfile();
	assert_non_null(*file);
	printer = printer_new(fileno(*file), PRINT_JSON, all);
	assert_non_null(printer);
	add_tracers(-1);
	return printer;
}

/* Frees the printer; returns what it has printed. */
static char *
end_printer(struct printer *printer, FILE *file)
{
	char *text;
	long size;

	add_tracers(1);
	assert_int_equal(printer_free(printer), 0);
	size = (fseek(file, 0, SEEK_END), ftell(file));
	text = malloc((size_t)size + 1);
	assert_true(size > 0 && text != NULL);
	rewind(file);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	text[size] = '\0';
	fclose(file);
	return text;
}

static const char *const captures[] = {
    "home-network.pcap",   "dns-tcp.pcap",	"iscsi.pcap",	       "midstream.pcap",  "sctp-restart.pcap",
    "icmp.pcapng",	   "tcp-ignored.pcap",	"split-handshake.pcap", "tfo.pcap",	  "reordered-fin.pcap",
    "ipv4-fragments.pcap", "dccp-tunnels.pcap", "qinq-arp.pcap",       "ipv6-http.pcap",
};

/* What tracers receive; `formulas`: while a listener completes and prints each firing, too. */
static char *
print_for_tracers(const char *name, bool formulas)
{
	struct listener l = {.random = 2, .reads = true};
	struct printer *printer;
	FILE *file;

	printer = make_printer(&file);
	add_tracers(1);
	if (formulas)
		add_formulas();
	observe_capture(name, printer, formulas ? &l : NULL);
	if (formulas)
		remove_formulas();
	add_tracers(-1);
	return end_printer(printer, file);
}

/* What a listener receives; `traced`: while tracers are attached, too. */
static char *
print_for_listener(const char *name, bool traced)
{
	struct listener l = {.random = 1, .reads = true};
	FILE *file, *other_file;
	struct printer *other = NULL;
	char *text;

	l.printer = make_printer(&file);
	if (traced) {
		other = make_printer(&other_file);
		add_tracers(1);
	}
	add_formulas();
	observe_capture(name, other, &l);
	remove_formulas();
	if (traced) {
		add_tracers(-1);
		free(end_printer(other, other_file));
	}
	text = end_printer(l.printer, file);
	return text;
}

static void
test_same_arguments(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof captures / sizeof captures[0]; i++) {
		char *wanted = print_for_tracers(captures[i], false);
		char *alone = print_for_listener(captures[i], false);
		char *beside = print_for_listener(captures[i], true);
		char *tracers = print_for_tracers(captures[i], true);

		assert_string_equal(alone, wanted);
		assert_string_equal(beside, wanted);
		assert_string_equal(tracers, wanted);
		free(wanted);
		free(alone);
		free(beside);
		free(tracers);
	}
}

/* Arguments that are not read are not built, except those that the caller of emit_app() passes. */
static void
test_lazy(void **state)
{
	struct listener l = {.reads = false};

	(void)state;
	add_formulas();
	observe_capture("home-network.pcap", NULL, &l);
	remove_formulas();
	assert_true(l.fired[PROBE_TCP_RECEIVE] > 0 && l.fired[PROBE_TCP_STATE_CHANGE] > 0);
	assert_int_equal(l.built, 0);
	assert_true(l.polls > 1);
}

/* Only the probes that formulas read reach the listener. */
static void
test_selected(void **state)
{
	struct listener l = {.reads = true};

	(void)state;
	semaphores_add_formula(PROBE_TCP_SEND);
	semaphores_add_formula(PROBE_TCP_SEND);
	semaphores_add_formula(PROBE_ISCSI_SCSI_COMMAND);
	observe_capture("iscsi.pcap", NULL, &l);
	assert_true(l.fired[PROBE_TCP_SEND] > 0 && l.fired[PROBE_ISCSI_SCSI_COMMAND] > 0);
	l.fired[PROBE_TCP_SEND] = l.fired[PROBE_ISCSI_SCSI_COMMAND] = 0;
	semaphores_remove_formula(PROBE_TCP_SEND);
	semaphores_remove_formula(PROBE_TCP_SEND);
	semaphores_remove_formula(PROBE_ISCSI_SCSI_COMMAND);
	observe_capture("iscsi.pcap", NULL, &l);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		assert_int_equal(l.fired[i], 0);
}

/* The counts of tracers and formulas do not run into each other. */
static void
test_semaphore(void **state)
{
	(void)state;
	assert_false(PROBE_ENABLED(tcp__send));
	semaphores_add_formula(PROBE_TCP_SEND);
	assert_true(PROBE_ENABLED(tcp__send) && semaphores_enabled(PROBE_TCP_SEND));
	assert_false(PROBE_ENABLED(tcp__receive) || semaphores_enabled(PROBE_TCP_RECEIVE));
	assert_int_equal(semaphores_read(PROBE_TCP_SEND), 0);
	assert_int_equal(semaphores_sum(), 0);
	__atomic_fetch_sub(probe_semaphores[PROBE_TCP_SEND], 1, __ATOMIC_RELAXED);
	assert_int_equal(semaphores_formulas(PROBE_TCP_SEND), 1);
	__atomic_fetch_add(probe_semaphores[PROBE_TCP_SEND], 1, __ATOMIC_RELAXED);
	assert_int_equal(semaphores_formulas(PROBE_TCP_SEND), 1);
	semaphores_remove_formula(PROBE_TCP_SEND);
	assert_false(PROBE_ENABLED(tcp__send));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_arguments),
	    cmocka_unit_test(test_lazy),
	    cmocka_unit_test(test_selected),
	    cmocka_unit_test(test_semaphore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
