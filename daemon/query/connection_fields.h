/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of connections that a request chooses by name: "connections --fields=cid,laddr,inbytes". */
#ifndef NETOBS_DAEMON_QUERY_CONNECTION_FIELDS_H
#define NETOBS_DAEMON_QUERY_CONNECTION_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most fields of a request. */
#define CONNECTION_FIELDS_MAX 24u

struct control_reply;
struct flow;
struct flow_table;
struct text_buffer;

struct connection_fields {
	uint8_t count; /* 0: no fields are chosen */
	bool owners;   /* a field of the owner is among them */
	struct {
		uint8_t kind; /* enum connection_field */
		uint8_t tcp;  /* number of a field of tcpsinfo_t */
	} chosen[CONNECTION_FIELDS_MAX];
};

/* Parses names separated by commas: those of connstat(8) and those of tcpsinfo_t.  False, with `error`, if a name is
 * wrong. */
bool connection_fields_parse(const char *list, struct connection_fields *to, char *error, size_t size);

/* Appends a line with the values, a tab between two of them; "-" if the connection does not have the field.  Call it
 * with the lock of the worker held. */
void connection_fields_add(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
			   struct text_buffer *text);

#endif
