/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a libpcap filter, before it is compiled: its words, and an estimate of the size of its program. */
#ifndef NETOBS_FORMULAS_MATCH_FILTER_TEXT_H
#define NETOBS_FORMULAS_MATCH_FILTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* --- The words of a libpcap filter. --- */

/* Most bytes of a word that is known, with the NUL. */
#define FILTER_WORD_SIZE 64u

/* Whether libpcap would look up a word as a name of a host, network, port or protocol, or the filter contains one of
 * the words "protochain" and "gateway".  If so, `unknown`, of FILTER_WORD_SIZE bytes, is the first such word. */
bool filter_words_need_lookup(const char *text, char *unknown, size_t size);

/*
 * Estimates the size of the program of a libpcap filter.  libpcap cannot be interrupted, and the time that it takes to
 * compile a filter grows with the square of the number of instructions, with optimization with its cube: with libpcap
 * 1.10.3 and Ethernet
 *
 *	"port 1 or port 2 ..."		10 ports	40	64	128	169	1000
 *	instructions			582		2502	4038	8134	10758	63942
 *	ms				0.6		10	27	168	314	31000
 *	ms with optimization		0.8		15	50	490	1160
 *	ns for a frame			320		1250	2000	5200	6900	28000
 *	ns for a frame, optimized	60		250	360	840	2000
 *
 * For 802.11 the number is twice to three times that of Ethernet.  So the number is estimated from the words,
 * before the filter is compiled.
 */

/* Most instructions of a filter that is compiled while frames arrive: some 30 ms. */
#define FILTER_SIZE_MAX 4096u

/* Most instructions of a filter that is compiled, with optimization, for the frames of a capture: half a second. */
#define FILTER_SIZE_CAPTURE_MAX 8192u

/* Estimates the number of instructions for Ethernet before optimization, as an upper bound: it is too low by a tenth at
 * most.  Other link types, such as 802.11, take at most three times as many, and 32.  A name of a host counts as one
 * address. */
unsigned filter_size_estimate(const char *text);

/* Whether the estimate is at most `most`; if not, `error` has a message. */
bool filter_size_check(const char *text, unsigned most, char *error, size_t size);

#endif
