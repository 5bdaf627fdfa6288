/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of tables in few characters.  The functions write as base/text.h does. */
#ifndef NETOBS_RECORDS_RECORD_TEXT_H
#define NETOBS_RECORDS_RECORD_TEXT_H

#include <stdint.h>

/* A duration in at most six characters, rounded down; "-" for a negative one. */
char *put_duration(char *at, int64_t us);

/* A number in at most six characters: exact below a million, else rounded down, with a power of 1000. */
char *put_amount(char *at, uint64_t value);

#endif
