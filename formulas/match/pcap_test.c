/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/pcap_test.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"
#include "dissect/frame.h"
#include "dissect/header_fields.h"

/* The link types that libpcap may report: dissect_link_supported() selects. */
#define LINK_TYPES_END 300

/* Most link types that are dissected. */
#define PROGRAMS_MAX 48u

/* libpcap's default; a program returns it for a match. */
#define SNAPSHOT_LENGTH 262144

struct pcap_test {
	struct pcap_test *next;
	unsigned count;
	struct pcap_program {
		int dlt;
		struct bpf_program program;
	} programs[PROGRAMS_MAX];
};

/* Compiles for one link type; returns whether it is possible, else sets `message` unless that is set. */
static bool
pcap_test_compile(struct pcap_program *to, int dlt, const char *filter, char *message, size_t message_size)
{
	bool raw = dlt == DLT_RAW_OPENBSD || dlt == DLT_RAW_FILE;
	pcap_t *pcap = pcap_open_dead(raw ? DLT_RAW : dlt, SNAPSHOT_LENGTH);
	bool good;

	if (pcap == NULL) {
		snprintf(message, message_size, "out of memory");
		return false;
	}
	to->dlt = dlt;
	good = pcap_compile(pcap, &to->program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0;
	if (!good && message[0] == '\0')
		snprintf(message, message_size, "%s", pcap_geterr(pcap));
	pcap_close(pcap);
	return good;
}

struct pcap_test *
pcap_test_new(const char *filter, struct pcap_test *next, char *message, size_t message_size)
{
	struct pcap_test *test = calloc(1, sizeof *test);

	snprintf(message, message_size, "%s", test == NULL ? "out of memory" : "");
	if (test == NULL)
		return NULL;
	/* Ethernet first: its message is the one that is reported. */
	for (int dlt = 0; dlt < LINK_TYPES_END && test->count < PROGRAMS_MAX; dlt++) {
		int link = dlt == 0 ? DLT_EN10MB : dlt == DLT_EN10MB ? 0 : dlt;

		if (dissect_link_supported(link) &&
		    pcap_test_compile(&test->programs[test->count], link, filter, message, message_size))
			test->count++;
	}
	if (test->count == 0) {
		free(test);
		return NULL;
	}
	test->next = next;
	return test;
}

void
pcap_test_free(struct pcap_test *test)
{
	while (test != NULL) {
		struct pcap_test *next = test->next;

		for (unsigned i = 0; i < test->count; i++)
			pcap_freecode(&test->programs[i].program);
		free(test);
		test = next;
	}
}

bool
pcap_test_match(const struct pcap_test *test, const struct frame *frame)
{
	struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->len};

	for (unsigned i = 0; i < test->count; i++)
		if (test->programs[i].dlt == frame->dlt)
			return pcap_offline_filter(&test->programs[i].program, &header, frame->data) != 0;
	return false;
}
