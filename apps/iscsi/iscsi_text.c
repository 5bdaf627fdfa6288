/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/iscsi/iscsi_text.h"

static void
iscsi_text_begin_pair(struct iscsi_text *text)
{
	text->key_length = text->value_length = 0;
	text->in_value = text->malformed = false;
}

/* Ends a pair at its NUL.  False if the pair is invalid; an empty pair is padding, which is valid. */
static bool
iscsi_text_end_pair(struct iscsi_text *text, iscsi_pair *pair, void *context)
{
	bool good = !text->malformed && text->in_value, empty = text->key_length == 0 && !text->malformed;

	if (good) {
		text->key[text->key_length] = '\0';
		text->value[text->value_length <= ISCSI_VALUE_MAX ? text->value_length : 0] = '\0';
		pair(context, text->key, text->value);
	}
	iscsi_text_begin_pair(text);
	return good || empty;
}

/* Keys are letters, digits and . - + @ _ (section 6.1); # occurs in extension keys (X#), and / is accepted as well. */
static bool
iscsi_text_is_key_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
	       c == '+' || c == '@' || c == '_' || c == '/' || c == '#';
}

static void
iscsi_text_add_key_char(struct iscsi_text *text, uint8_t c)
{
	if (c == '=' && text->key_length > 0)
		text->in_value = true;
	else if (iscsi_text_is_key_char(c) && text->key_length < ISCSI_KEY_MAX)
		text->key[text->key_length++] = (char)c;
	else
		text->malformed = true;
}

/* A length of ISCSI_VALUE_MAX + 1 marks a value that is too long to keep. */
static void
iscsi_text_add_value_char(struct iscsi_text *text, uint8_t c)
{
	if (text->value_length < ISCSI_VALUE_MAX)
		text->value[text->value_length] = (char)c;
	if (text->value_length <= ISCSI_VALUE_MAX)
		text->value_length++;
}

bool
iscsi_text_feed(struct iscsi_text *text, struct slice bytes, iscsi_pair *pair, void *context)
{
	bool good = true;

	for (uint32_t i = 0; i < bytes.len; i++) {
		uint8_t c = slice_u8(bytes, i);

		if (c == '\0') {
			good &= iscsi_text_end_pair(text, pair, context);
		} else if (text->malformed) {
			continue;
		} else if (!text->in_value) {
			iscsi_text_add_key_char(text, c);
		} else {
			iscsi_text_add_value_char(text, c);
		}
	}
	return good;
}

bool
iscsi_text_end(struct iscsi_text *text)
{
	bool complete = text->key_length == 0 && !text->malformed;

	iscsi_text_begin_pair(text);
	return complete;
}
