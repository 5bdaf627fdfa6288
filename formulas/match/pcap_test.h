/* SPDX-License-Identifier: BSD-2-Clause */
/* pcap("..."): libpcap's compiler and interpreter over the bytes of the frame. */
#ifndef NETOBS_FORMULAS_MATCH_PCAP_TEST_H
#define NETOBS_FORMULAS_MATCH_PCAP_TEST_H

#include <stdbool.h>
#include <stddef.h>

struct frame;
struct pcap_test;

/* Compiles a filter for all link types that frames are dissected of; a filter need not be possible on every one.  A
 * large filter is compiled for a link type when a frame first has it; see filter_text.h.  The result is the first of a
 * list with `next` after it.  NULL with `message` if no link type allows the filter or the list is too large. */
struct pcap_test *pcap_test_new(const char *filter, struct pcap_test *next, char *message, size_t message_size);

/* Frees the whole list. */
void pcap_test_free(struct pcap_test *test);

/* Whether the frame matches; false if its link type does not allow the filter. */
bool pcap_test_match(const struct pcap_test *test, const struct frame *frame);

#endif
