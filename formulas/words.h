/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the numbers of states, flags and kinds: the enums of netobs.h.  NETOBS_TCP_FIN_WAIT_1 may be written as
 * fin-wait-1, FIN_WAIT_1, state-fin-wait-1, TCP_FIN_WAIT_1 and in full, and as D on Solaris and on FreeBSD has it:
 * TCP_STATE_FIN_WAIT_1, TCPS_FIN_WAIT_1.
 */
#ifndef NETOBS_FORMULAS_WORDS_H
#define NETOBS_FORMULAS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/manifest.h"

/* The word of this spelling; NULL if the enum has no such word. */
const struct word_info *words_find(const struct enum_info *info, const char *text, size_t length);

/* Whether any enum has the word. */
bool words_are_known(const char *text, size_t length);

/* Bytes of the longest word with hyphens at the beginning of the text, 0 if there is none. */
size_t words_measure_hyphenated(const char *text);

/* A word as a definition is best written: RST in flags, fin-wait-1 elsewhere. */
const char *words_spell(const struct enum_info *info, const char *word, char *spelling, size_t size);

#endif
