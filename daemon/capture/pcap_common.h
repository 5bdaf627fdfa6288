/* SPDX-License-Identifier: BSD-2-Clause */
/* What files and interfaces have in common where libpcap is asked. */
#ifndef NETOBS_DAEMON_CAPTURE_PCAP_COMMON_H
#define NETOBS_DAEMON_CAPTURE_PCAP_COMMON_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "daemon/config/config.h"
#include "dissect/frame.h"

/* Whether frames of this capture can be dissected; if not, a message naming the link type is logged. */
bool capture_link_supported(pcap_t *pcap, const char *name);

/* Compiles the configuration's filter, which is there, for this capture.  A message is logged if it is not valid. */
bool capture_compile(const struct config *config, pcap_t *pcap, const char *name, struct bpf_program *program);

/* The frame that libpcap, asked for nanoseconds, delivers as `header` and `data`. */
static inline struct frame
capture_frame(const struct interface *interface, int dlt, const struct pcap_pkthdr *header, const u_char *data)
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
