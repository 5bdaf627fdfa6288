/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/pcap_common.h"

#include <stdio.h>

#include "base/log.h"
#include "base/log_debug.h"
#include "dissect/dissect.h"
#include "base/unit_clause.h"
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
