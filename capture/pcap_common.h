/* SPDX-License-Identifier: BSD-2-Clause */
/* libpcap helpers shared by files and interfaces. */
#ifndef NETOBS_CAPTURE_PCAP_COMMON_H
#define NETOBS_CAPTURE_PCAP_COMMON_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "config/config.h"
#include "dissect/frame.h"

/* Whether frames of this link type can be dissected; if not, a message naming the link type is logged. */
bool capture_check_link_type(int dlt, const char *name);

/* Compiles the configured filter for this capture; there must be one.  Logs a message if it is invalid. */
bool capture_compile_filter(const struct config *config, pcap_t *pcap, const char *name, struct bpf_program *program);

/* The time of a frame, in nanoseconds since the epoch.  The seconds of a pcap file are 32 bits without sign; libpcap
 * extends their sign unless the file has the other byte order.  A fraction of a second or more, which libpcap extends
 * likewise, is invalid: the last nanosecond of that second, so that every machine reads the same time. */
static inline uint64_t
capture_time_stamp(const struct pcap_pkthdr *header)
{
	uint64_t seconds = header->ts.tv_sec < 0 ? (uint32_t)header->ts.tv_sec : (uint64_t)header->ts.tv_sec;
	uint64_t fraction = (uint64_t)header->ts.tv_usec;

	return seconds * 1000000000u + (fraction < 1000000000u ? fraction : 999999999u);
}

/* Converts a frame from libpcap, which was opened with nanosecond precision. */
static inline struct frame
capture_make_frame(const struct interface *interface, int dlt, const struct pcap_pkthdr *header, const u_char *data)
{
	return (struct frame){
	    .data = data,
	    .interface = interface,
	    .ts = capture_time_stamp(header),
	    .caplen = header->caplen,
	    .len = header->len,
	    .dlt = dlt,
	};
}

#endif
