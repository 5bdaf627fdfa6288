/* SPDX-License-Identifier: BSD-2-Clause */
/* Shell patterns: '*', '?', "[a-z]", "[!a-z]" and '\' before a character that stands for itself.  They match bytes. */
#ifndef NETOBS_FORMULAS_MATCH_PATTERN_H
#define NETOBS_FORMULAS_MATCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* The offset of a '[' that no ']' follows or of a '\' at the end; `length` if the pattern is correct. */
size_t pattern_find_mistake(const char *pattern, size_t length);

/* Most bytes of a pattern that is prepared. */
#define PATTERN_MAX 2048u

struct pattern;

/* Bytes of memory, aligned for uint64_t, of a prepared pattern of `length` bytes. */
size_t pattern_size(size_t length);

/* Prepares a correct pattern of at most PATTERN_MAX bytes in `memory`. */
struct pattern *pattern_prepare(void *memory, const char *text, size_t length);

/* Whether the whole text matches.  For each of its bytes the time is that of 64 characters of the pattern, or of as
 * many times 64 as the pattern has, whatever is in them. */
bool pattern_match(const struct pattern *pattern, const char *text, size_t length);

#endif
