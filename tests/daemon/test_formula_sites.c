/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches of formulas as notes of the flight memory: of formulas from the configuration, from requests and after a
 * reload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "daemon/formula_sites.h"
#include "flight/ring.h"
#include "observe/observer.h"
#include "observe/ring_listener.h"

#define SECOND 1000000000ull

static const char *nothing[] = {NULL};
static struct config config;
static struct local_addrs *local_addrs;
static struct formula_sites *sites;
static struct workers *workers;

static void
open_run(const char **formulas, bool records)
{
	struct ring_limits limits = {.memory = RING_MEMORY_MIN, .flows = 1000, .seed = 42};
	struct worker *worker;

	config = (struct config){.observe_inner = true,
				 .flow_limits = flow_limits_default(),
				 .capture_paths = nothing,
				 .workers = 1,
				 .control_path = "control",
				 .formulas = formulas};
	config.flow_limits.flows = limits.flows;
	local_addrs = local_addrs_new(NULL, 0);
	workers = calloc(1, sizeof *workers + sizeof workers->worker[0]);
	sites = formula_sites_open(&config);
	assert_true(local_addrs != NULL && workers != NULL && sites != NULL);
	workers->config = &config;
	workers->count = 1;
	worker = &workers->worker[0];
	worker->observer = observer_new(&config, VIEW_BOTH, local_addrs, NULL, 42, NULL);
	assert_non_null(worker->observer);
	if (records) {
		worker->ring = ring_new(&limits);
		assert_non_null(worker->ring);
		ring_listener_attach(worker->ring, worker->observer, NULL);
	}
	formula_sites_connect(sites, workers);
}

static void
close_run(void)
{
	observer_free(workers->worker[0].observer);
	ring_free(workers->worker[0].ring);
	formula_sites_free(sites);
	local_addrs_free(local_addrs);
	free(workers);
}

static void
observe(const char *capture)
{
	static const struct interface nowhere;
	char path[1024], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *data;
	pcap_t *pcap;

	snprintf(path, sizeof path, "%s/tests/captures/%s", getenv("top_srcdir"), capture);
	pcap = pcap_open_offline(path, error);
	assert_non_null(pcap);
	while (pcap_next_ex(pcap, &header, &data) == 1) {
		struct frame frame = {.data = data,
				      .interface = &nowhere,
				      .ts = (uint64_t)header->ts.tv_sec * SECOND + (uint64_t)header->ts.tv_usec * 1000,
				      .caplen = header->caplen,
				      .len = header->len,
				      .dlt = pcap_datalink(pcap)};

		observe_frames(workers->worker[0].observer, &frame, 1);
	}
	observer_end_input(workers->worker[0].observer);
	pcap_close(pcap);
}

/* The notes in the ring that are matches of this formula: "a: tcps_rport = 110;". */
static const char *
notes_of(const char *formula)
{
	static char text[4096];
	struct ring_selection all = {.cid = 0};
	struct ring_reader *reader = ring_reader_new(workers->worker[0].ring, &all);
	struct ring_frame frame;
	size_t used = 0;

	assert_non_null(reader);
	text[0] = '\0';
	for (enum ring_read read; (read = ring_reader_next(reader, &frame)) != RING_END;) {
		if (read != RING_FRAME)
			continue;
		for (size_t i = 0; i < frame.notes; i++) {
			char comment[RING_COMMENT_MAX];

			ring_frame_comment(workers->worker[0].ring, &frame, i, comment);
			if (strncmp(comment, formula, strlen(formula)) != 0)
				continue;
			assert_true(frame.cid_count == 1);
			used += (size_t)snprintf(text + used, sizeof text - used, "%s;", comment);
		}
	}
	ring_reader_free(reader);
	return text;
}

static void
matches_on_packets_are_notes(void **state)
{
	static const char *formulas[] = {"refused = tcp-connect-refused where tcps_rport in {21, 110}",
					 "retried = tcp-retransmit where tcpr_count >= 1, 1 times in 1s by tcps_rport",
					 "ended = connection-end", "packets = tcp-receive", NULL};

	(void)state;
	open_run(formulas, true);
	observe("questions.pcap");
	assert_string_equal(notes_of("refused"), "refused: tcps_rport = 21;refused: tcps_rport = 110;");
	assert_string_equal(notes_of("retried"), "retried: tcpr_count = 2, tcps_rport = 40002, the 1st in 1s;");
	assert_string_equal(notes_of("ended"), "");   /* not on a packet */
	assert_string_equal(notes_of("packets"), ""); /* not active */
	close_run();
}

static void
later_formulas_make_notes(void **state)
{
	static const char *fresh_formulas[] = {"fresh = tcp-connect-refused where tcps_rport == 9001", NULL};
	struct config fresh = {.formulas = fresh_formulas};
	char error[200];

	(void)state;
	open_run(nothing, true);
	observe("one-tcp-rst.pcap");
	assert_true(formula_sites_define(sites, "late = tcp-connect-refused where tcps_rport > 100", error,
					 sizeof error));
	assert_string_equal(notes_of("late"), "");
	observe("questions.pcap");
	assert_string_equal(notes_of("late"), "late: tcps_rport = 110;late: tcps_rport = 443;");
	assert_true(formula_sites_undefine(sites, "late"));
	formula_sites_reload(sites, &fresh);
	observe("cooked-refused.pcap");
	assert_string_equal(notes_of("late"), "late: tcps_rport = 110;late: tcps_rport = 443;");
	assert_string_equal(notes_of("fresh"), "fresh: tcps_rport = 9001;");
	close_run();
}

static void
without_a_ring_matches_are_counted(void **state)
{
	static const char *formulas[] = {"refused = tcp-connect-refused", NULL};

	(void)state;
	open_run(formulas, false);
	observe("questions.pcap");
	assert_int_equal(formula_set_status(formula_sites_set(sites), 0).matched, 6);
	close_run();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(matches_on_packets_are_notes),
	    cmocka_unit_test(later_formulas_make_notes),
	    cmocka_unit_test(without_a_ring_matches_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
