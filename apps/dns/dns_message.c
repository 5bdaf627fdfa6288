/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_message.h"

#include "apps/dns/dns_name.h"

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
