/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe fires alone as it fires among all others: a regular packet takes the fast path unless an enabled probe fires
 * for every packet (manifest_per_packet), and then causes no event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "config/options.h"
#include "observe/observer.h"
#include "probes/manifest.h"
#include "probes/print/print.h"

#define SECOND 1000000000ull

static const char *const captures[] = {
    "home-network.pcap",    "dns-tcp.pcap",	 "iscsi.pcap",	    "midstream.pcap",
    "reordered-data.pcap",  "reordered-fin.pcap", "ipv6-http.pcap",  "sctp-multihomed.pcap",
    "sctp-restart.pcap",    "tcp-ignored.pcap",	 "tfo.pcap",	    "vxlan-arp.pcap",
    "icmp.pcapng",	    "vlan-refused-reuse.pcap", "one-way-client.pcap", "ipv4-fragments.pcap",
};

static void
observe_capture(const char *name, struct observer *o)
{
	static const struct interface nowhere;
	static struct frame frames[FRAME_SINK_FRAMES_MAX];
	char path[1024], error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *data;
	unsigned count;
	pcap_t *pcap;

	snprintf(path, sizeof path, "%s/tests/captures/%s", getenv("top_srcdir"), name);
	pcap = pcap_open_offline(path, error);
	assert_non_null(pcap);
	do {
		for (count = 0; count < FRAME_SINK_FRAMES_MAX && pcap_next_ex(pcap, &header, &data) == 1; count++) {
			uint8_t *copy = malloc(header->caplen + 1u);

			assert_non_null(copy);
			memcpy(copy, data, header->caplen);
			frames[count] = (struct frame){.data = copy,
						       .interface = &nowhere,
						       .ts = (uint64_t)header->ts.tv_sec * SECOND +
							     (uint64_t)header->ts.tv_usec * 1000,
						       .caplen = header->caplen,
						       .len = header->len,
						       .dlt = pcap_datalink(pcap)};
		}
		observe_frames(o, frames, count);
		for (unsigned i = 0; i < count; i++)
			free((void *)(uintptr_t)frames[i].data);
	} while (count == FRAME_SINK_FRAMES_MAX);
	observer_end_input(o);
	pcap_close(pcap);
}

/* The firings of these probes as lines of JSON. */
static char *
print_firings(const char *name, const bool selected[PROBE_COUNT])
{
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);
	FILE *file = tmpfile();
	struct printer *printer;
	struct config config;
	struct observer *o;
	char *text;
	long size;

	assert_true(config_set_defaults(&config) && local_addrs != NULL && file != NULL);
	config.flow_limits.flows = 1000;
	printer = printer_new(fileno(file), PRINT_JSON, selected);
	assert_non_null(printer);
	o = observer_new(&config, VIEW_BOTH, local_addrs, printer, 42, NULL);
	assert_non_null(o);
	observe_capture(name, o);
	observer_free(o);
	assert_int_equal(printer_free(printer), 0);
	local_addrs_free(local_addrs);
	config_free(&config);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size >= 0);
	text = malloc((size_t)size + 1);
	assert_non_null(text);
	rewind(file);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	text[size] = '\0';
	fclose(file);
	return text;
}

/* The firings of one probe among all; NULL if it has not fired. */
static char *
choose_firings(const char *all, enum probe_id id)
{
	char begin[128], *chosen = malloc(strlen(all) + 1), *at = chosen;
	size_t length = (size_t)snprintf(begin, sizeof begin, "{\"probe\":\"%s\",", manifest_probes[id].name);

	assert_non_null(chosen);
	for (const char *line = all, *next; *line != '\0'; line = next) {
		next = strchr(line, '\n') + 1;
		if (strncmp(line, begin, length) != 0)
			continue;
		memcpy(at, line, (size_t)(next - line));
		at += next - line;
	}
	*at = '\0';
	if (at > chosen)
		return chosen;
	free(chosen);
	return NULL;
}

static void
test_each_probe_alone(void **state)
{
	unsigned compared = 0;
	bool every[PROBE_COUNT];

	(void)state;
	memset(every, true, sizeof every);
	for (size_t i = 0; i < sizeof captures / sizeof captures[0]; i++) {
		char *all = print_firings(captures[i], every);

		for (unsigned id = 0; id < PROBE_COUNT; id++) {
			char *wanted = choose_firings(all, (enum probe_id)id), *alone;
			bool one[PROBE_COUNT] = {false};

			if (wanted == NULL)
				continue;
			one[id] = true;
			alone = print_firings(captures[i], one);
			if (strcmp(alone, wanted) != 0)
				fail_msg("%s: %s fires otherwise when it is alone", captures[i],
					 manifest_probes[id].name);
			free(alone);
			free(wanted);
			compared++;
		}
		free(all);
	}
	print_message("%u comparisons\n", compared);
	assert_true(compared > 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_probe_alone)};

	return cmocka_run_group_tests_name("one_probe", tests, NULL, NULL);
}
