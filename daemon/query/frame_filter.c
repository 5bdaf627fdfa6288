/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/frame_filter.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulas/match/filter_text.h"

/* Most link types of the frames of a reply. */
#define LINK_TYPES_MAX 16u

#define SNAPLEN 262144

struct frame_filter {
	unsigned count;
	struct {
		int dlt;
		struct bpf_program program;
	} compiled[LINK_TYPES_MAX];
	char text[FRAME_FILTER_TEXT_MAX + 1];
};

static bool
filter_check_words(const char *text, char *error, size_t size)
{
	char word[FILTER_WORD_SIZE];

	if (strchr(text, '\\') != NULL) {
		snprintf(error, size, "bad filter: give protocols by their numbers, without \\");
		return false;
	}
	if (filter_words_need_lookup(text, word, sizeof word)) {
		snprintf(error, size,
			 "bad filter: \"%.40s\" is not known: netobsd looks up no names; give hosts by their "
			 "addresses, and ports by their numbers",
			 word);
		return false;
	}
	return filter_size_check(text, FILTER_SIZE_MAX, error, size);
}

struct frame_filter *
frame_filter_new(const char *text, char *error, size_t size)
{
	struct frame_filter *filter;

	if (strlen(text) > FRAME_FILTER_TEXT_MAX) {
		snprintf(error, size, "the filter is longer than %u bytes", FRAME_FILTER_TEXT_MAX);
		return NULL;
	}
	if (!filter_check_words(text, error, size))
		return NULL;
	filter = calloc(1, sizeof *filter);
	if (filter == NULL)
		snprintf(error, size, "netobsd is out of memory");
	else
		snprintf(filter->text, sizeof filter->text, "%s", text);
	return filter;
}

void
frame_filter_free(struct frame_filter *filter)
{
	if (filter == NULL)
		return;
	for (unsigned i = 0; i < filter->count; i++)
		pcap_freecode(&filter->compiled[i].program);
	free(filter);
}

bool
frame_filter_has_link_type(const struct frame_filter *filter, int dlt)
{
	for (unsigned i = 0; i < filter->count; i++)
		if (filter->compiled[i].dlt == dlt)
			return true;
	return false;
}

bool
frame_filter_add_link_type(struct frame_filter *filter, int dlt, char *error, size_t size)
{
	const char *name = pcap_datalink_val_to_name(dlt);
	pcap_t *dead;
	bool good;

	if (frame_filter_has_link_type(filter, dlt))
		return true;
	if (filter->count == LINK_TYPES_MAX) {
		snprintf(error, size, "frames of more than %u link types are not filtered", LINK_TYPES_MAX);
		return false;
	}
	dead = pcap_open_dead(dlt, SNAPLEN);
	if (dead == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return false;
	}
	/* Not optimized: the optimizer saves 3 ns a frame of "tcp port 443 and host 10.0.0.1", and makes it an error
	 * that a filter rejects all frames of a link type. */
	good = pcap_compile(dead, &filter->compiled[filter->count].program, filter->text, 0, PCAP_NETMASK_UNKNOWN) == 0;
	if (good)
		filter->compiled[filter->count++].dlt = dlt;
	else
		snprintf(error, size, "bad filter for link type %s: %.200s; pcap-filter(7) describes filters",
			 name != NULL ? name : "without a name", pcap_geterr(dead));
	pcap_close(dead);
	return good;
}

bool
frame_filter_matches(const struct frame_filter *filter, int dlt, const uint8_t *data, uint32_t caplen, uint32_t len)
{
	const struct pcap_pkthdr header = {.caplen = caplen, .len = len};

	for (unsigned i = 0; i < filter->count; i++)
		if (filter->compiled[i].dlt == dlt)
			return pcap_offline_filter(&filter->compiled[i].program, &header, data) != 0;
	return false;
}
