/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/connection_filter.h"

#include <stdio.h>
#include <string.h>

#include "daemon/query/control_reply.h"
#include "daemon/stats/flow_names.h"
#include "flow/record/flow_record.h"
#include "probes/args/args.h"
#include "records/record_fields.h"

bool
connection_filter_begin(struct control_reply *reply, char *error, size_t size)
{
	char mistake[RECORD_ERROR_MAX];

	if (reply->request.expression == NULL)
		return true;
	reply->expression = record_filter_compile(reply->request.expression, mistake);
	if (reply->expression == NULL)
		snprintf(error, size, "where: %s", mistake);
	return reply->expression != NULL;
}

void
connection_filter_end(struct control_reply *reply)
{
	record_filter_free(reply->expression);
	reply->expression = NULL;
}

bool
connection_filter_holds(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow)
{
	const struct control_filter *filter = &reply->request.filter;
	const struct flow_key *key = &flow->key;

	if (reply->request.command == REQUEST_CONNECTION)
		return flow_cid(table, flow, 0) == reply->request.cid || flow_cid(table, flow, 1) == reply->request.cid;
	if (filter->cid != 0 && flow_cid(table, flow, 0) != filter->cid && flow_cid(table, flow, 1) != filter->cid)
		return false;
	if (filter->open && flow_has_ended(table, flow))
		return false;
	if (filter->has_protocol && key->protocol != filter->protocol)
		return false;
	if (filter->has_port && key->port[0] != filter->port && key->port[1] != filter->port)
		return false;
	if (filter->has_host &&
	    (key->version != filter->version || (memcmp(key->addr[0], filter->host, sizeof filter->host) != 0 &&
						 memcmp(key->addr[1], filter->host, sizeof filter->host) != 0)))
		return false;
	return filter->state[0] == '\0' || strcmp(flow_state_name(flow, 0), filter->state) == 0 ||
	       strcmp(flow_state_name(flow, 1), filter->state) == 0;
}

/* Fills the record of an open connection.  The client sees in it only the processes that it may see. */
static void
connection_filter_fill(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		       struct connrec *record)
{
	struct recorded_connection of = {
	    .table = table, .flow = flow, .record = flow_table_record(table, flow), .reason = RECORD_OPEN};
	struct flow_record unkept;
	struct owner owners[2];

	if (of.record == NULL) {
		flow_record_from_now(flow, &unkept);
		of.record = &unkept;
	}
	for (unsigned end = 0; end < 2; end++)
		if (reply_find_known_owner(reply, table, flow, end, &owners[end]))
			of.owner[end] = &owners[end];
	args_connrec(record, &of);
}

bool
connection_filter_may_select(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow)
{
	return reply->request.owners == OWNERS_BOTH ? connection_filter_holds(reply, table, flow)
						    : connection_filter_selects(reply, table, flow);
}

bool
connection_filter_selects(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow)
{
	struct connrec record;

	if (!connection_filter_holds(reply, table, flow))
		return false;
	if (reply->expression == NULL)
		return true;
	connection_filter_fill(reply, table, flow, &record);
	return record_filter_selects(reply->expression, &record);
}
