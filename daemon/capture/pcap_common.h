/* SPDX-License-Identifier: BSD-2-Clause */
/* libpcap helpers shared by files and interfaces. */
#ifndef NETOBS_DAEMON_CAPTURE_PCAP_COMMON_H
#define NETOBS_DAEMON_CAPTURE_PCAP_COMMON_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "daemon/config/config.h"
#include "dissect/frame.h"

/* Whether frames of this capture can be dissected; if not, a message naming the link type is logged. */
bool capture_check_link_type(pcap_t *pcap, const char *name);

/* Compiles the configured filter for this capture; there must be one.  Logs a message if it is invalid. */
bool capture_compile_filter(const struct config *config, pcap_t *pcap, const char *name, struct bpf_program *program);

/* Converts a frame from libpcap, which was opened with nanosecond precision. */
static inline struct frame
capture_make_frame(const struct interface *interface, int dlt, const struct pcap_pkthdr *header, const u_char *data)
{
	return (struct frame){
	    .data = data,
	    .interface = interface,
	    .ts = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec,
	    .caplen = header->caplen,
	    .len = header->len,
	    .dlt = dlt,
	};
}

#endif
