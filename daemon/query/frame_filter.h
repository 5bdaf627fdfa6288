/* SPDX-License-Identifier: BSD-2-Clause */
/* A filter in the language of pcap-filter(7), from a client of the control socket, for frames of any link types. */
#ifndef NETOBS_DAEMON_QUERY_FRAME_FILTER_H
#define NETOBS_DAEMON_QUERY_FRAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes of the text of a filter, which limits the time to compile it. */
#define FRAME_FILTER_TEXT_MAX 1024u

struct frame_filter;

/* Names of hosts and services are rejected: netobsd looks up no names while it captures.  NULL with `error`. */
struct frame_filter *frame_filter_new(const char *text, char *error, size_t size);
void frame_filter_free(struct frame_filter *filter);

/* Compiles the filter for a link type, unless that is done already.  It takes up to some 50 ms.  False with `error`. */
bool frame_filter_add_link_type(struct frame_filter *filter, int dlt, char *error, size_t size);

/* Whether the filter is compiled for the link type. */
bool frame_filter_has_link_type(const struct frame_filter *filter, int dlt);

/* `dlt` must have been added. */
bool frame_filter_matches(const struct frame_filter *filter, int dlt, const uint8_t *data, uint32_t caplen,
			  uint32_t len);

#endif
