/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/connection_fields.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "daemon/query/control_reply.h"
#include "daemon/stats/flow_names.h"
#include "flow/record/flow_record.h"
#include "probes/args/args.h"
#include "probes/manifest.h"
#include "probes/names.h"
#include "probes/nearest.h"

/* Fields that every connection has. */
enum connection_field {
	CONNECTION_CID,
	CONNECTION_PROTO,
	CONNECTION_STATE,
	CONNECTION_PEER_STATE,
	CONNECTION_PID,
	CONNECTION_COMM,
	CONNECTION_UID,
	CONNECTION_OPENER,
	CONNECTION_START,
	CONNECTION_LAST,
	CONNECTION_AGE,
	CONNECTION_TCP, /* a field of tcpsinfo_t */
};

/* Names besides those of tcpsinfo_t.  Those with `contract`, and state, are the names of connstat(8). */
static const struct {
	const char *name;
	enum connection_field field;
	const char *contract; /* CONNECTION_TCP: its name in tcpsinfo_t */
} connection_names[] = {
    {"cid", CONNECTION_CID, NULL},
    {"proto", CONNECTION_PROTO, NULL},
    {"state", CONNECTION_STATE, NULL},
    {"peerstate", CONNECTION_PEER_STATE, NULL},
    {"pid", CONNECTION_PID, NULL},
    {"comm", CONNECTION_COMM, NULL},
    {"uid", CONNECTION_UID, NULL},
    {"opener", CONNECTION_OPENER, NULL},
    {"start", CONNECTION_START, NULL},
    {"last", CONNECTION_LAST, NULL},
    {"age", CONNECTION_AGE, NULL},
    {"laddr", CONNECTION_TCP, "tcps_laddr"},
    {"lport", CONNECTION_TCP, "tcps_lport"},
    {"raddr", CONNECTION_TCP, "tcps_raddr"},
    {"rport", CONNECTION_TCP, "tcps_rport"},
    {"inbytes", CONNECTION_TCP, "tcps_rcv_bytes"},
    {"insegs", CONNECTION_TCP, "tcps_rcv_segs"},
    {"outbytes", CONNECTION_TCP, "tcps_snd_bytes"},
    {"outsegs", CONNECTION_TCP, "tcps_snd_segs"},
    {"retranssegs", CONNECTION_TCP, "tcps_snd_retrans"},
    {"swnd", CONNECTION_TCP, "tcps_swnd"},
    {"cwnd", CONNECTION_TCP, "tcps_cwnd"},
    {"rwnd", CONNECTION_TCP, "tcps_rwnd"},
    {"mss", CONNECTION_TCP, "tcps_mss"},
    {"rto", CONNECTION_TCP, "tcps_rto"},
    {"rtt", CONNECTION_TCP, "tcps_srtt_us"},
};

#define NAME_COUNT (sizeof connection_names / sizeof connection_names[0])

/* Finds a field of tcpsinfo_t; its number, or the number of fields if there is none. */
static size_t
connection_fields_find_tcp(const char *name, size_t length)
{
	const struct struct_info *tcps = &manifest_structs[STRUCT_TCPSINFO];
	size_t i = 0;

	while (i < tcps->field_count &&
	       (strlen(tcps->fields[i].name) != length || memcmp(tcps->fields[i].name, name, length) != 0))
		i++;
	return i;
}

static bool
connection_fields_is_owner(enum connection_field field)
{
	return field == CONNECTION_PID || field == CONNECTION_COMM || field == CONNECTION_UID;
}

/* Chooses a field as the next one; false if there is none of that name. */
static bool
connection_fields_choose(struct connection_fields *fields, const char *name, size_t length)
{
	size_t known = 0;
	size_t tcp;

	while (known < NAME_COUNT && (strlen(connection_names[known].name) != length ||
				      memcmp(connection_names[known].name, name, length) != 0))
		known++;
	if (known == NAME_COUNT)
		tcp = connection_fields_find_tcp(name, length);
	else if (connection_names[known].field == CONNECTION_TCP)
		tcp = connection_fields_find_tcp(connection_names[known].contract,
						 strlen(connection_names[known].contract));
	else
		tcp = 0;
	fields->chosen[fields->count].kind =
	    known < NAME_COUNT ? (uint8_t)connection_names[known].field : CONNECTION_TCP;
	fields->chosen[fields->count].tcp = (uint8_t)tcp;
	fields->count++;
	fields->owners |= known < NAME_COUNT && connection_fields_is_owner(connection_names[known].field);
	return tcp < manifest_structs[STRUCT_TCPSINFO].field_count;
}

static void
connection_fields_explain(const char *name, size_t length, char *error, size_t size)
{
	const struct struct_info *tcps = &manifest_structs[STRUCT_TCPSINFO];
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	nearest_begin(&nearest, name, length);
	for (size_t i = 0; i < NAME_COUNT; i++)
		nearest_consider(&nearest, connection_names[i].name);
	for (size_t i = 0; i < tcps->field_count; i++)
		nearest_consider(&nearest, tcps->fields[i].name);
	snprintf(error, size, "connections have no field \"%.*s\"%s; netobsctl(8) lists them",
		 length < 40 ? (int)length : 40, name, nearest_hint(&nearest, "", hint));
}

bool
connection_fields_parse(const char *list, struct connection_fields *to, char *error, size_t size)
{
	*to = (struct connection_fields){.count = 0};
	for (;;) {
		size_t length = strcspn(list, ",");

		if (to->count == CONNECTION_FIELDS_MAX) {
			snprintf(error, size, "connections: more than %u fields", CONNECTION_FIELDS_MAX);
			return false;
		}
		if (!connection_fields_choose(to, list, length)) {
			connection_fields_explain(list, length, error, size);
			return false;
		}
		if (list[length] == '\0')
			return true;
		list += length + 1;
	}
}

/* ---------------------------------------------------------------------------------------------------------- values */

static void
connection_fields_add_word(struct text_buffer *text, const char *word)
{
	text_add_bytes(text, word, strlen(word));
}

static void
connection_fields_add_number(const struct field_info *field, const char *from, struct text_buffer *text)
{
	bool is_signed = field->kind == FIELD_SIGNED;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	memcpy(&two, from, sizeof two);
	memcpy(&four, from, sizeof four);
	if (field->size == 2)
		text_add_number(text, two);
	else if (field->size == 4 && is_signed)
		text_add_format(text, "%d", (int)four);
	else if (field->size == 4)
		text_add_number(text, four);
	else if (field->size == 8) {
		memcpy(&eight, from, sizeof eight);
		text_add_number(text, eight);
	} else {
		text_add_format(text, "-"); /* padding */
	}
}

static void
connection_fields_add_tcp(const struct tcpsinfo *tcps, const struct field_info *field, struct text_buffer *text)
{
	const char *from = (const char *)tcps + field->offset;

	if (field->offset == offsetof(struct tcpsinfo, tcps_srtt_us) && tcps->tcps_srtt_us == 0)
		text_add_bytes(text, "-", 1); /* no round trip was measured yet */
	else if (field->kind == FIELD_TEXT)
		text_add_escaped(text, from);
	else
		connection_fields_add_number(field, from, text);
}

static void
connection_fields_add_owner(const struct owner *owner, enum connection_field field, struct text_buffer *text)
{
	if (owner == NULL)
		text_add_format(text, "-");
	else if (field == CONNECTION_COMM && strcmp(owner->comm, "-") == 0)
		text_add_format(text, "\\x2d"); /* not like one that is unknown */
	else if (field == CONNECTION_COMM)
		text_add_escaped(text, owner->comm);
	else if (field == CONNECTION_PID)
		text_add_number(text, (uint64_t)owner->pid);
	else
		text_add_number(text, owner->uid);
}

/* The end that sent the SYN or INIT; `local`: the endpoint that is reported as local. */
static const char *
connection_fields_opener(const struct flow_table *table, const struct flow *flow, unsigned local)
{
	enum record_role role;
	unsigned client = flow_find_client(table, flow, &role);

	if (role != RECORD_ROLE_SEEN)
		return "-";
	return client == local ? "local" : "remote";
}

/* Whether a connection of another protocol than TCP has a value for a field of tcpsinfo_t. */
static bool
connection_fields_is_general(const struct field_info *field)
{
	static const size_t general[] = {
	    offsetof(struct tcpsinfo, tcps_laddr),     offsetof(struct tcpsinfo, tcps_lport),
	    offsetof(struct tcpsinfo, tcps_raddr),     offsetof(struct tcpsinfo, tcps_rport),
	    offsetof(struct tcpsinfo, tcps_snd_bytes), offsetof(struct tcpsinfo, tcps_rcv_bytes),
	    offsetof(struct tcpsinfo, tcps_snd_segs),  offsetof(struct tcpsinfo, tcps_rcv_segs),
	    offsetof(struct tcpsinfo, tcps_start),
	};

	for (size_t i = 0; i < sizeof general / sizeof general[0]; i++)
		if (general[i] == field->offset)
			return true;
	return false;
}

/* Fills what connections of all protocols have; SCTP and UDP count packets as segments. */
static void
connection_fields_fill_general(struct tcpsinfo *tcps, const struct flow_table *table, const struct flow *flow,
			       unsigned local)
{
	bool sctp = flow->kind == FLOW_SCTP;
	unsigned remote = 1 - local;

	*tcps = (struct tcpsinfo){
	    .tcps_lport = flow->key.port[local],
	    .tcps_rport = flow->key.port[remote],
	    .tcps_snd_bytes = sctp ? flow->sctp[local].bytes : flow->udp[local].bytes,
	    .tcps_rcv_bytes = sctp ? flow->sctp[remote].bytes : flow->udp[remote].bytes,
	    .tcps_snd_segs = sctp ? flow->sctp[local].packets : flow->udp[local].datagrams,
	    .tcps_rcv_segs = sctp ? flow->sctp[remote].packets : flow->udp[remote].datagrams,
	    .tcps_start = flow_first_seen(table, flow),
	};
	field_set_address(tcps->tcps_laddr, sizeof tcps->tcps_laddr, flow->key.version, flow->key.addr[local]);
	field_set_address(tcps->tcps_raddr, sizeof tcps->tcps_raddr, flow->key.version, flow->key.addr[remote]);
}

struct connection_view {
	const struct flow_table *table;
	const struct flow *flow;
	unsigned local;
	const struct owner *owner; /* NULL: unknown */
	struct tcpsinfo tcps;
};

static void
connection_fields_add_value(const struct connection_view *view, enum connection_field kind,
			    const struct field_info *field, struct text_buffer *text)
{
	switch (kind) {
	case CONNECTION_CID:
		text_add_number(text, flow_cid(view->table, view->flow, view->local));
		break;
	case CONNECTION_PROTO:
		connection_fields_add_word(text, flow_protocol_name(view->flow));
		break;
	case CONNECTION_STATE:
		connection_fields_add_word(text, flow_state_name(view->flow, view->local));
		break;
	case CONNECTION_PEER_STATE:
		connection_fields_add_word(text, flow_state_name(view->flow, 1 - view->local));
		break;
	case CONNECTION_PID:
	case CONNECTION_COMM:
	case CONNECTION_UID:
		connection_fields_add_owner(view->owner, kind, text);
		break;
	case CONNECTION_OPENER:
		text_add_format(text, "%s", connection_fields_opener(view->table, view->flow, view->local));
		break;
	case CONNECTION_START:
		text_add_number(text, flow_first_seen(view->table, view->flow));
		break;
	case CONNECTION_LAST:
		text_add_number(text, flow_last_seen(view->table, view->flow));
		break;
	case CONNECTION_AGE:
		text_add_format(text, "%.1f", flow_age_seconds(view->table, view->flow));
		break;
	case CONNECTION_TCP:
		if (view->flow->kind != FLOW_TCP && !connection_fields_is_general(field))
			text_add_format(text, "-");
		else
			connection_fields_add_tcp(&view->tcps, field, text);
		break;
	}
}

void
connection_fields_add(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		      struct text_buffer *text)
{
	const struct connection_fields *fields = &reply->request.connection_fields;
	unsigned local = flow_reported_endpoint(flow);
	struct connection_view view = {.table = table, .flow = flow, .local = local};
	struct owner owner;

	if (reply_find_known_owner(reply, table, flow, local, &owner))
		view.owner = &owner;
	if (flow->kind == FLOW_TCP) {
		struct probe_endpoint of = {.table = table, .flow = flow, .end = local, .tcp = &flow->tcp[local]};

		args_tcpsinfo(&view.tcps, &of);
	} else {
		connection_fields_fill_general(&view.tcps, table, flow, local);
	}
	for (unsigned i = 0; i < fields->count; i++) {
		if (i > 0)
			text_add_bytes(text, "\t", 1);
		connection_fields_add_value(&view, fields->chosen[i].kind,
					    &manifest_structs[STRUCT_TCPSINFO].fields[fields->chosen[i].tcp], text);
	}
	text_add_bytes(text, "\n", 1);
}
