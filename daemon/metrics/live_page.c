/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/metrics/live_page.h"

#include <string.h>

#include "base/clock.h"

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

bool
live_connections_begin(struct live_reply *reply, struct query_context *query)
{
	struct control_request *request = &reply->connections.request;
	char error[256];

	reply->connections.query = query;
	reply->connections.uid = (uid_t)-1;
	request->command = REQUEST_CONNECTIONS;
	request->open = true;
	request->limit = LIVE_CONNECTIONS_MAX;
	request->fields = "start,end,protocol,role,client,client_port,client_bytes,client_resent,client_state,"
			  "server,server_port,server_bytes,server_resent,server_state,rtt_us";
	reply->connections.begun = true; /* without the line "ok" */
	return control_reply_begin_connections(&reply->connections, error, sizeof error);
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

void
live_connections_end(struct live_reply *reply)
{
	control_reply_end_connections(&reply->connections);
}
