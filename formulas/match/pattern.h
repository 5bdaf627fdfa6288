/* SPDX-License-Identifier: BSD-2-Clause */
/* Shell patterns: '*', '?', "[a-z]", "[!a-z]" and '\' before a character that stands for itself.  They match bytes. */
#ifndef NETOBS_FORMULAS_MATCH_PATTERN_H
#define NETOBS_FORMULAS_MATCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* The offset of a '[' that no ']' follows or of a '\' at the end; `length` if the pattern is correct. */
size_t pattern_find_mistake(const char *pattern, size_t length);

/* Whether the whole text matches a correct pattern.  The time is bounded by the product of the lengths. */
bool pattern_match(const char *pattern, size_t pattern_length, const char *text, size_t text_length);

#endif
