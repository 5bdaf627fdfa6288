/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link types of a capture file and the filter compiled for each of them.  Frames of a link type that cannot be
 * dissected are rejected, and so are those of a link type that appears behind the first frame and for which the filter
 * is invalid.
 */
#ifndef NETOBS_CAPTURE_LINK_FILTERS_H
#define NETOBS_CAPTURE_LINK_FILTERS_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "dissect/frame.h"

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

/* Adds the link types of `dlts` behind the first filters->count ones, and compiles the configured filter for each that
 * is supported.  False, with a message logged, if out of memory or if a filter is invalid; filters->count is then
 * `count` unless out of memory. */
bool link_filters_add(struct link_filters *filters, const struct config *config, const int *dlts, size_t count);
void link_filters_free(struct link_filters *filters);

enum link_verdict link_filters_check(const struct link_filters *filters, const struct frame *frame);

#endif
