/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a libpcap filter. */
#ifndef NETOBS_FORMULAS_MATCH_FILTER_WORDS_H
#define NETOBS_FORMULAS_MATCH_FILTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a word that is known, with the NUL. */
#define FILTER_WORD_SIZE 64u

/* Finds the next word; NULL at the end.  In brackets a colon separates words, as in "tcp[2:2]", and a hyphen in front
 * of a word is an operator.  `brackets` is 0 at the beginning of the text. */
const char *filter_words_next(const char *text, unsigned *brackets, size_t *length);

/* Whether libpcap would look up a word as a name of a host, network, port or protocol, or the filter contains one of
 * the words "protochain" and "gateway".  If so, `unknown`, of FILTER_WORD_SIZE bytes, is the first such word. */
bool filter_words_need_lookup(const char *text, char *unknown, size_t size);

#endif
