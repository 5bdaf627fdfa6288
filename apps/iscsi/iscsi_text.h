/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of login and text PDUs (RFC 7143 section 6.1): KEY=VALUE, each ended by a NUL.
 *
 * A pair may lie across segments and, where PDUs say that they go on (C), across PDUs, so bytes are taken as they come.
 * Nothing is kept but the pair at hand.
 */
#ifndef NETOBS_APPS_ISCSI_ISCSI_TEXT_H
#define NETOBS_APPS_ISCSI_ISCSI_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/cursor.h"

#define ISCSI_KEY_MAX	63u  /* section 6.1 */
#define ISCSI_VALUE_MAX 255u /* of all values but large binary ones, which nobody here wants */

struct iscsi_text {
	uint16_t key_length, value_length; /* so far; a value's may be beyond what is kept */
	bool in_value;
	bool bad; /* this pair is no pair: skip to its NUL */
	char key[ISCSI_KEY_MAX + 1], value[ISCSI_VALUE_MAX + 1];
};

/* Told of each whole pair; a value that was too long to keep is cut to "". */
typedef void iscsi_pair(void *context, const char *key, const char *value);

/* Takes the next bytes.  False where a pair among them was none: no '=', or an impossible key. */
bool iscsi_text_take(struct iscsi_text *text, struct view bytes, iscsi_pair *pair, void *context);

/* The text ends here.  False if that is in the middle of a pair. */
bool iscsi_text_end(struct iscsi_text *text);

#endif
