/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/metrics/live_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/query/service_table.h"
#include "records/service_lines.h"

/* Data of the page of a running netobsd, which fetches the rest: {"live":true}. */
static struct page_part
live_page_data(void)
{
	static char bytes[16];
	struct text_buffer text = {.bytes = bytes, .size = sizeof bytes};
	struct json json = text_json(&text);

	json_begin_object(&json, NULL);
	json_add_bool(&json, "live", true);
	json_end_object(&json);
	return (struct page_part){bytes, text.used};
}

/* The data of the page stand between two of its parts. */
static struct page_part
live_page_part(const struct page *page, unsigned part)
{
	if (part == PAGE_DATA)
		return live_page_data();
	return page->parts[part < PAGE_DATA ? part : part - 1];
}

bool
live_page_write(struct live_reply *reply, const struct page *page, struct text_buffer *text)
{
	while (reply->part < PAGE_PARTS + 1) {
		struct page_part part = live_page_part(page, reply->part);
		size_t length = part.length - reply->offset, room = text_space_left(text);

		if (length > room)
			length = room;
		memcpy(text->bytes + text->used, part.bytes + reply->offset, length);
		text->used += length;
		reply->offset += length;
		if (reply->offset < part.length)
			return true;
		reply->part++;
		reply->offset = 0;
	}
	return false;
}

/* Open connections, without processes, because the client is not known. */
static bool
live_begin_open(struct live_reply *reply, struct query_context *query, uint32_t limit, const char *fields)
{
	struct control_request *request = &reply->connections.request;
	char error[256];

	reply->connections.query = query;
	reply->connections.uid = (uid_t)-1;
	request->command = REQUEST_CONNECTIONS;
	request->open = true;
	request->limit = limit;
	request->fields = fields;
	reply->connections.begun = true; /* without the line "ok" */
	return control_reply_begin_connections(&reply->connections, error, sizeof error);
}

bool
live_connections_begin(struct live_reply *reply, struct query_context *query)
{
	return live_begin_open(reply, query, LIVE_CONNECTIONS_MAX,
			       "start,end,protocol,role,client,client_port,client_bytes,client_resent,client_state,"
			       "server,server_port,server_bytes,server_resent,server_state,rtt_us");
}

bool
live_connections_write(struct live_reply *reply, struct text_buffer *text)
{
	struct json json = text_json(text);

	if (!reply->begun) {
		json_begin_object(&json, NULL);
		json_add_unsigned(&json, "time", clock_realtime_ns());
		json_end_line(&json);
	}
	reply->begun = true;
	control_reply_write_connections(&reply->connections, text);
	return !reply->connections.done;
}

bool
live_services_begin(struct live_reply *reply, struct query_context *query)
{
	reply->services = service_table_copy(query->services);
	reply->list = calloc(SERVICES_MAX + 1, sizeof *reply->list);
	reply->connections.services = reply->services;
	return reply->services != NULL && reply->list != NULL &&
	       live_begin_open(reply, query, LIVE_SERVICES_OPEN_MAX, "start");
}

/* The first line, when all connections are counted. */
static void
live_services_list(struct live_reply *reply, struct json *json)
{
	uint64_t now = clock_realtime_ns();

	reply->count = services_list(reply->services, now - LIVE_RECENT_NS, reply->list);
	json_begin_object(json, NULL);
	json_add_unsigned(json, "services", reply->count);
	json_end_line(json);
	if (reply->count > LIVE_SERVICES_MAX)
		reply->count = LIVE_SERVICES_MAX;
	reply->begun = true;
}

bool
live_services_write(struct live_reply *reply, struct text_buffer *text)
{
	struct json json = text_json(text);

	if (!reply->connections.done) {
		control_reply_write_connections(&reply->connections, text);
		return true;
	}
	if (!reply->begun)
		live_services_list(reply, &json);
	for (; reply->next < reply->count && text_space_left(text) >= SERVICE_LINE_MAX * 2; reply->next++) {
		json_begin_object(&json, NULL);
		service_add_members(&json, reply->list[reply->next]);
		json_end_line(&json);
	}
	return reply->next < reply->count;
}

void
live_reply_end(struct live_reply *reply)
{
	control_reply_end_connections(&reply->connections);
	services_free(reply->services);
	free(reply->list);
}
