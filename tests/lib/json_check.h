/* SPDX-License-Identifier: BSD-2-Clause */
/* A strict JSON checker (RFC 8259) for tests: checks that a text is one value, builds nothing. */
#ifndef NETOBS_TESTS_LIB_JSON_CHECK_H
#define NETOBS_TESTS_LIB_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is exactly one JSON value in valid UTF-8 without control characters and hidden ones; `*where` is where
 * it is not. */
bool json_check(const char *text, size_t length, size_t *where);

#endif
