/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_name.h"

#include <strings.h>

enum dns_label_type {
	DNS_LABEL_TYPE = 0xc0,	  /* mask */
	DNS_LABEL_POINTER = 0xc0, /* the rest of the name is elsewhere in the message */
};

/* Text of a name in progress. */
struct dns_text {
	char *to; /* NULL: no text is needed */
	uint32_t length;
};

static void
dns_text_add(struct dns_text *text, char c)
{
	if (text->to != NULL && text->length < DNS_NAME_SIZE - 1)
		text->to[text->length++] = c;
}

static void
dns_text_add_escaped(struct dns_text *text, uint8_t byte)
{
	if (byte > 0x20 && byte < 0x7f) {
		if (byte == '.' || byte == '\\' || byte == '"' || byte == '(' || byte == ')' || byte == ';' ||
		    byte == '@' || byte == '$')
			dns_text_add(text, '\\');
		dns_text_add(text, (char)byte);
		return;
	}
	dns_text_add(text, '\\');
	dns_text_add(text, (char)('0' + byte / 100));
	dns_text_add(text, (char)('0' + byte / 10 % 10));
	dns_text_add(text, (char)('0' + byte % 10));
}

static void
dns_text_add_label(struct dns_text *text, struct slice label)
{
	if (text->length > 0)
		dns_text_add(text, '.');
	for (uint32_t i = 0; i < label.len; i++)
		dns_text_add_escaped(text, slice_u8(label, i));
}

/* A pointer must lead to an earlier place than the part of the name that it ends, so that it cannot loop. */
static bool
dns_follow_pointer(struct cursor *c, struct slice message, uint32_t wire, uint32_t *part, uint32_t offset,
		   enum anomaly *anomaly)
{
	if (offset >= *part) {
		*anomaly = ANOMALY_DNS_POINTER;
		return false;
	}
	*part = offset;
	*c = cursor_at(message, offset, wire);
	return true;
}

/* One label; an empty one is the root. */
static bool
dns_take_label(struct cursor *name, struct slice *label, enum anomaly *anomaly)
{
	struct slice length;

	if (cursor_take(name, 1, &length) && (slice_u8(length, 0) & DNS_LABEL_TYPE) != 0) {
		*anomaly = ANOMALY_DNS_LABEL;
		return false;
	}
	if (cursor_take(name, slice_u8(length, 0), label))
		return true;
	if (name->error == CURSOR_SHORT)
		*anomaly = ANOMALY_DNS_SHORT;
	return false;
}

bool
dns_take_name(struct cursor *c, struct slice message, char *text, enum anomaly *anomaly)
{
	struct dns_text out = {.to = text};
	struct cursor name = *c;
	struct slice label, pointer;
	uint32_t part = message.len - c->captured, size = part + c->wire, wire = 1;
	bool away = false; /* behind a pointer */

	*anomaly = ANOMALY_NONE;
	if (text != NULL)
		text[0] = '\0';
	for (;;) {
		if (cursor_peek(&name, 1, &label) && (slice_u8(label, 0) & DNS_LABEL_TYPE) == DNS_LABEL_POINTER) {
			if (!cursor_take(&name, 2, &pointer)) {
				*anomaly = name.error == CURSOR_SHORT ? ANOMALY_DNS_SHORT : ANOMALY_NONE;
				return false;
			}
			if (!away)
				*c = name;
			away = true;
			if (!dns_follow_pointer(&name, message, size, &part, slice_u16(pointer, 0) & 0x3fffu, anomaly))
				return false;
			continue;
		}
		if (!dns_take_label(&name, &label, anomaly))
			return false;
		if (label.len == 0)
			break;
		wire += 1 + label.len;
		if (wire > DNS_NAME_WIRE_MAX) {
			*anomaly = ANOMALY_DNS_NAME_LENGTH;
			return false;
		}
		dns_text_add_label(&out, label);
	}
	if (!away)
		*c = name;
	if (out.length == 0)
		dns_text_add(&out, '.');
	if (text != NULL)
		text[out.length] = '\0';
	return true;
}

bool
dns_name_equal(const char *a, const char *b)
{
	return strcasecmp(a, b) == 0;
}
