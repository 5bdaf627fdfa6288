/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_args.h"

/* `info` is zero before. */
static void
args_copy_http_text(char *to, size_t size, struct slice text)
{
	slice_copy(text, 0, to, text.len < size ? text.len : (uint32_t)size - 1);
}

#define COPY_HTTP_TEXT(field, kind) args_copy_http_text((field), sizeof(field), message->texts[kind])

void
args_httpinfo(struct httpinfo *info, const struct http_message *message, const struct flow *flow, unsigned endpoint)
{
	_Static_assert(sizeof info->rq_method == HTTP_METHOD_MAX + 1 && sizeof info->rq_uri == HTTP_URI_MAX + 1 &&
			   sizeof info->rq_host == HTTP_HOST_MAX + 1 && sizeof info->rq_agent == HTTP_AGENT_MAX + 1,
		       "the texts fit");
	*info = (struct httpinfo){
	    .rq_id = message->id,
	    .rq_status = message->status,
	    .rq_lport = flow->key.port[endpoint],
	    .rq_rport = flow->key.port[1 - endpoint],
	    .rq_version = "HTTP/1.",
	    .rq_uri_len = message->target_length,
	    .rq_request_bytes = message->request_bytes,
	    .rq_response_bytes = message->response_bytes,
	    .rq_first_byte_us = message->first_byte_us,
	    .rq_total_us = message->total_us,
	    .rq_upgraded = message->upgraded,
	};
	info->rq_version[7] = (char)('0' + message->minor);
	COPY_HTTP_TEXT(info->rq_method, HTTP_TEXT_METHOD);
	COPY_HTTP_TEXT(info->rq_uri, HTTP_TEXT_URI);
	COPY_HTTP_TEXT(info->rq_host, HTTP_TEXT_HOST);
	COPY_HTTP_TEXT(info->rq_agent, HTTP_TEXT_AGENT);
}
