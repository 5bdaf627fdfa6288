/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/link_filters.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "dissect/dissect.h"
#include "formulas/match/filter_text.h"

bool
capture_check_link_type(int dlt, const char *name)
{
	const char *dlt_name = pcap_datalink_val_to_name(dlt);

	if (dissect_link_supported(dlt))
		return true;
	log_error("%s: link type %s (%d) is not supported; these are: %s", name,
		  dlt_name != NULL ? dlt_name : "without a name", dlt, dissect_link_names());
	return false;
}

bool
capture_compile_filter(const struct config *config, pcap_t *pcap, const char *name, struct bpf_program *program)
{
	const char *hint = config->print != PRINT_OFF && config->print_probes == NULL
			       ? " (name probes to print with an equals sign: --print=PROBE)"
			   : config->records && config->records_path == NULL
			       ? " (name the file of records with an equals sign: --records=FILE)"
			       : "";
	char error[200];

	if (!filter_size_check(config->filter, FILTER_SIZE_CAPTURE_MAX, error, sizeof error)) {
		log_error("bad filter for %s: %s", name, error);
		return false;
	}
	if (pcap_compile(pcap, program, config->filter, 1, PCAP_NETMASK_UNKNOWN) == 0) {
		log_debug(DEBUG_CAPTURE, "filter \"%s\" compiled for %s, link type %d: %u instructions", config->filter,
			  name, pcap_datalink(pcap), program->bf_len);
		return true;
	}
	log_error("bad filter \"%s\" for %s: %s%s; pcap-filter(7) describes filters%s", config->filter, name,
		  pcap_geterr(pcap), hint, unit_clause_of_filter(pcap_geterr(pcap)));
	return false;
}

/* ----------------------------------------------------------------------------------------------------- link filters */

/* Snapshot length of the pcap_t that a filter is compiled for: longer than any frame. */
#define FILTER_SNAPSHOT_LENGTH 262144

/* Loads from here on are the kernel's extensions of BPF, such as the direction of a frame; files do not have them. */
#define BPF_EXTENSIONS 0xfffff000u

/* Whether a filter uses only bytes of the frame.  libpcap checks this itself only if it reads the file. */
static bool
link_filter_reads_frames(const struct bpf_program *program)
{
	for (u_int i = 0; i < program->bf_len; i++) {
		const struct bpf_insn *insn = &program->bf_insns[i];

		if (BPF_CLASS(insn->code) == BPF_LD && BPF_MODE(insn->code) == BPF_ABS && insn->k >= BPF_EXTENSIONS)
			return false;
	}
	return true;
}

static bool
link_filter_compile(const struct link_filters *filters, struct link_filter *link, const struct config *config)
{
	pcap_t *pcap = filters->pcap;
	const char *name = filters->name;
	const char *type = pcap_datalink_val_to_name(link->dlt);
	char name_and_type[PATH_MAX + 64];
	bool good;

	if (pcap == NULL) { /* one filter of several */
		pcap =
		    pcap_open_dead_with_tstamp_precision(link->dlt, FILTER_SNAPSHOT_LENGTH, PCAP_TSTAMP_PRECISION_NANO);
		snprintf(name_and_type, sizeof name_and_type, "%s, link type %s", filters->name,
			 type != NULL ? type : "without a name");
		name = name_and_type;
	}
	if (pcap == NULL)
		return log_out_of_memory();
	good = capture_compile_filter(config, pcap, name, &link->filter);
	if (good && !link_filter_reads_frames(&link->filter)) {
		log_error(
		    "bad filter \"%s\" for %s: a file does not have the direction or the interface that it selects; "
		    "pcap-filter(7) describes filters",
		    config->filter, name);
		pcap_freecode(&link->filter);
		good = false;
	}
	if (pcap != filters->pcap)
		pcap_close(pcap);
	return good;
}

bool
link_filters_add(struct link_filters *filters, const struct config *config, const int *dlts, size_t count)
{
	struct link_filter *list = realloc(filters->list, count * sizeof *list);
	bool good = true;

	if (list == NULL)
		return log_out_of_memory();
	filters->list = list;
	while (filters->count < count) {
		struct link_filter *link = &list[filters->count];

		*link = (struct link_filter){.dlt = dlts[filters->count++]};
		link->supported = dissect_link_supported(link->dlt);
		filters->selects |= !link->supported || config->filter != NULL;
		link->invalid =
		    link->supported && config->filter != NULL && !link_filter_compile(filters, link, config);
		good &= !link->invalid;
	}
	return good;
}

void
link_filters_free(struct link_filters *filters)
{
	for (size_t i = 0; i < filters->count; i++)
		pcap_freecode(&filters->list[i].filter);
	free(filters->list);
}

enum link_verdict
link_filters_check(const struct link_filters *filters, const struct frame *frame)
{
	struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->len};
	const struct link_filter *link = filters->list;

	while (link->dlt != frame->dlt)
		link++;
	if (!link->supported)
		return LINK_UNSUPPORTED;
	if (link->invalid)
		return LINK_FILTERED;
	return link->filter.bf_insns == NULL || pcap_offline_filter(&link->filter, &header, frame->data) != 0
		   ? LINK_PASSES
		   : LINK_FILTERED;
}
