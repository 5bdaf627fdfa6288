/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns.h"

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

/* Takes the labels up to the root and adds them to `text`; `*after` is after the name. */
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

/*
 * Takes the name at the cursor and writes it to `text` (NULL: not), which has DNS_NAME_SIZE bytes: labels with dots
 * between them, in the case that they have, "." for the root, with the escapes of a master file (RFC 1035 section 5.1).
 * `message` is the whole message, for compression.  On failure returns false, the text is empty, and `*anomaly` is the
 * reason, ANOMALY_NONE if the name was cut off by the snapshot length.
 */
static bool
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

#define DNS_HEADER_LEN 12u

/* Types of records that are examined. */
enum dns_type {
	DNS_TYPE_A = 1,
	DNS_TYPE_CNAME = 5,
	DNS_TYPE_AAAA = 28,
	DNS_TYPE_OPT = 41,
};

#define DNS_OPT_DNSSEC_OK 0x8000u

/* A message that is being parsed. */
struct dns_parser {
	struct slice bytes; /* the whole message */
	struct cursor c;
	struct dns_message *message;
	enum anomaly anomaly;
};

/* The bytes end too early.  False, for the caller to return. */
static bool
dns_parser_end(struct dns_parser *p)
{
	if (p->c.error == CURSOR_SHORT)
		p->anomaly = ANOMALY_DNS_SHORT;
	return false;
}

static bool
dns_take_header(struct dns_parser *p)
{
	struct dns_message *m = p->message;
	struct slice h;

	if (!cursor_take(&p->c, DNS_HEADER_LEN, &h))
		return dns_parser_end(p);
	m->id = slice_u16(h, 0);
	m->flags = slice_u16(h, 2);
	m->rcode = m->flags & DNS_RCODE;
	m->questions = slice_u16(h, 4);
	m->answers = slice_u16(h, 6);
	m->authority = slice_u16(h, 8);
	m->additional = slice_u16(h, 10);
	return true;
}

static bool
dns_take_question(struct dns_parser *p, bool first)
{
	struct slice fixed;

	if (!dns_take_name(&p->c, p->bytes, first ? p->message->qname : NULL, &p->anomaly))
		return false;
	if (!cursor_take(&p->c, 4, &fixed))
		return dns_parser_end(p);
	if (first) {
		p->message->qtype = slice_u16(fixed, 0);
		p->message->qclass = slice_u16(fixed, 2);
	}
	return true;
}

/* The OPT record: what it says stands in the fields of class and TTL (RFC 6891 section 6.1). */
static void
dns_read_opt(struct dns_message *m, uint16_t class, uint32_t ttl)
{
	m->edns_size = class;
	m->rcode = (uint16_t)((ttl >> 24) << 4 | (m->flags & DNS_RCODE));
	m->dnssec_ok = (ttl & DNS_OPT_DNSSEC_OK) != 0;
}

static void
dns_read_address(struct dns_parser *p, uint8_t version, struct slice data)
{
	uint32_t length = version == 4 ? 4 : 16;

	if (p->message->addr_version != 0)
		return;
	if (data.len != length) {
		p->anomaly = ANOMALY_DNS_RECORD;
		return;
	}
	p->message->addr_version = version;
	slice_copy(data, 0, p->message->addr, length);
}

/* The name must fill the data: one that ends elsewhere does not belong to the record. */
static void
dns_read_cname(struct dns_parser *p, const struct cursor *data, uint32_t length)
{
	char *cname = p->message->cname;
	struct cursor c = *data;

	if (cname[0] != '\0' || !dns_take_name(&c, p->bytes, cname, &p->anomaly))
		return;
	if (data->wire - c.wire != length) {
		cname[0] = '\0';
		p->anomaly = ANOMALY_DNS_RECORD;
	}
}

/* A record; `answer`: it is in the answer section, `first` its first. */
static bool
dns_take_record(struct dns_parser *p, bool answer, bool first)
{
	struct slice fixed, data;
	struct cursor before;
	uint16_t type;

	if (!dns_take_name(&p->c, p->bytes, NULL, &p->anomaly))
		return false;
	if (!cursor_take(&p->c, 10, &fixed))
		return dns_parser_end(p);
	before = p->c;
	if (!cursor_take(&p->c, slice_u16(fixed, 8), &data))
		return dns_parser_end(p);
	type = slice_u16(fixed, 0);
	if (first)
		p->message->ttl = slice_u32(fixed, 4);
	if (type == DNS_TYPE_OPT)
		dns_read_opt(p->message, slice_u16(fixed, 2), slice_u32(fixed, 4));
	if (answer && type == DNS_TYPE_A)
		dns_read_address(p, 4, data);
	if (answer && type == DNS_TYPE_AAAA)
		dns_read_address(p, 6, data);
	if (answer && type == DNS_TYPE_CNAME)
		dns_read_cname(p, &before, data.len);
	return p->anomaly == ANOMALY_NONE;
}

static void
dns_take_records(struct dns_parser *p)
{
	const struct dns_message *m = p->message;
	uint32_t records = (uint32_t)m->answers + m->authority + m->additional;

	for (uint32_t i = 0; i < records; i++) {
		if (i == DNS_RECORDS_MAX) {
			p->anomaly = ANOMALY_DNS_RECORD_LIMIT;
			return;
		}
		if (!dns_take_record(p, i < m->answers, i == 0 && m->answers > 0))
			return;
	}
	if (p->c.wire > 0)
		p->anomaly = ANOMALY_DNS_TRAILING;
}

bool
dns_parse(struct slice bytes, uint32_t wire, struct dns_message *message, enum anomaly *anomaly)
{
	struct dns_parser p = {.bytes = bytes, .c = cursor_init(bytes.at, bytes.len, wire), .message = message};
	bool complete, taken;

	*message = (struct dns_message){.size = wire, .latency_us = -1};
	complete = taken = dns_take_header(&p);
	for (uint32_t i = 0; i < message->questions && taken; i++) {
		if (i == DNS_RECORDS_MAX) {
			p.anomaly = ANOMALY_DNS_RECORD_LIMIT;
			break;
		}
		taken = dns_take_question(&p, i == 0);
		complete = taken || i > 0;
	}
	if (taken && p.anomaly == ANOMALY_NONE)
		dns_take_records(&p);
	*anomaly = p.anomaly;
	return complete;
}
