/* SPDX-License-Identifier: BSD-2-Clause */
/* libpcap helpers shared by files and interfaces. */
#ifndef NETOBS_CAPTURE_LINK_FILTERS_H
#define NETOBS_CAPTURE_LINK_FILTERS_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stddef.h>

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

/* ----------------------------------------------------------------------------------------------------- link filters */

/*
 * The link types of a capture file and the filter compiled for each of them.  Frames of a link type that cannot be
 * dissected are rejected, and so are those of a link type that appears after the first frame and for which the filter
 * is invalid.
 */

enum link_verdict { LINK_PASSES, LINK_FILTERED, LINK_UNSUPPORTED };

struct link_filter {
	int dlt;
	bool supported, invalid;   /* invalid: the filter was not compiled */
	struct bpf_program filter; /* no instructions: everything passes */
};

struct link_filters {
	const char *name; /* of the file */
	pcap_t *pcap;	  /* libpcap's, borrowed, which then compiles the filters of all link types; or NULL */
	struct link_filter *list;
	size_t count;
	bool selects; /* link_filters_check() rejects some frames */
};

/* Adds the link types of `dlts` after the first filters->count ones, and compiles the configured filter for each that
 * is supported.  False, with a message logged, if out of memory or if a filter is invalid; filters->count is then
 * `count` unless out of memory. */
bool link_filters_add(struct link_filters *filters, const struct config *config, const int *dlts, size_t count);
void link_filters_free(struct link_filters *filters);

enum link_verdict link_filters_check(const struct link_filters *filters, const struct frame *frame);

#endif
