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

/* A name that is being taken. */
struct dns_walk {
	struct slice message;
	uint32_t wire;	   /* bytes of the message on the wire */
	uint32_t part;	   /* offset at which the part of the name that is being taken begins */
	uint32_t pointers; /* that were followed */
};

/* Takes a pointer and continues the name where it leads.  That must be an earlier place than the part of the name that
 * the pointer ends, so that it cannot loop. */
static bool
dns_follow_pointer(struct dns_walk *walk, struct cursor *name, struct cursor *after, enum anomaly *anomaly)
{
	struct slice pointer;
	uint32_t offset;

	if (!cursor_take(name, 2, &pointer)) {
		*anomaly = name->error == CURSOR_SHORT ? ANOMALY_DNS_SHORT : ANOMALY_NONE;
		return false;
	}
	if (walk->pointers++ == 0)
		*after = *name;
	offset = slice_u16(pointer, 0) & 0x3fffu;
	if (offset >= walk->part || walk->pointers > DNS_POINTERS_MAX) {
		*anomaly = ANOMALY_DNS_POINTER;
		return false;
	}
	walk->part = offset;
	*name = cursor_at(walk->message, offset, walk->wire);
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

/* Takes the labels up to the root and adds them to `text`; `*after` is behind the name. */
static bool
dns_take_labels(struct dns_walk *walk, struct cursor *after, struct dns_text *text, enum anomaly *anomaly)
{
	struct cursor name = *after;
	struct slice label;
	uint32_t length = 1;

	for (;;) {
		if (cursor_peek(&name, 1, &label) && (slice_u8(label, 0) & DNS_LABEL_TYPE) == DNS_LABEL_POINTER) {
			if (!dns_follow_pointer(walk, &name, after, anomaly))
				return false;
			continue;
		}
		if (!dns_take_label(&name, &label, anomaly))
			return false;
		if (label.len == 0)
			break;
		length += 1 + label.len;
		if (length > DNS_NAME_WIRE_MAX) {
			*anomaly = ANOMALY_DNS_NAME_LENGTH;
			return false;
		}
		dns_text_add_label(text, label);
	}
	if (walk->pointers == 0)
		*after = name;
	return true;
}

bool
dns_take_name(struct cursor *c, struct slice message, char *text, enum anomaly *anomaly)
{
	struct dns_walk walk = {.message = message, .part = message.len - c->captured};
	struct dns_text out = {.to = text};
	bool complete;

	*anomaly = ANOMALY_NONE;
	walk.wire = walk.part + c->wire;
	complete = dns_take_labels(&walk, c, &out, anomaly);
	if (complete && out.length == 0)
		dns_text_add(&out, '.');
	if (text != NULL)
		text[complete ? out.length : 0] = '\0';
	return complete;
}

bool
dns_name_equal(const char *a, const char *b)
{
	return strcasecmp(a, b) == 0;
}
