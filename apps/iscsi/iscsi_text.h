/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of login and text PDUs (RFC 7143 section 6.1): KEY=VALUE pairs, each ended by a NUL.  A pair may span segments
 * and, if the C bit is set, PDUs; so the parser is incremental and keeps only the pair in progress.
 */
#ifndef NETOBS_APPS_ISCSI_ISCSI_TEXT_H
#define NETOBS_APPS_ISCSI_ISCSI_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/cursor.h"

#define ISCSI_KEY_MAX	63u  /* section 6.1 */
#define ISCSI_VALUE_MAX 255u /* longest value kept; only large binary values are longer, and none of them is used */

struct iscsi_text {
	uint16_t key_length, value_length; /* lengths so far; value_length may exceed what is kept */
	bool in_value;
	bool malformed; /* not a valid pair: skip to its NUL */
	char key[ISCSI_KEY_MAX + 1], value[ISCSI_VALUE_MAX + 1];
};

/* Called for each complete pair.  The value is "" if it was too long to keep. */
typedef void iscsi_pair(void *context, const char *key, const char *value);

/* Parses the next bytes.  False if they hold an invalid pair: no '=', or an illegal key. */
bool iscsi_text_feed(struct iscsi_text *text, struct slice bytes, iscsi_pair *pair, void *context);

/* Ends the text.  False if a pair is incomplete. */
bool iscsi_text_end(struct iscsi_text *text);

#endif
