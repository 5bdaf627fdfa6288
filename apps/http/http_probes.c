/* SPDX-License-Identifier: BSD-2-Clause */
/* The http probes: arguments, firing, printing. */
#include "apps/http/http.h"

#include "apps/app.h"
#include "base/text.h"
#include "probes/fire.h"
#include "probes/netobs.h"
#include "probes/print/text_line.h"
#include "probes/site/semaphores.h"

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

/* Fires the probe of a message, a struct http_message, unless it is not enabled. */
static void
http_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	const struct http_message *request = message;
	enum probe_id probe = request->done ? PROBE_HTTP_REQUEST_DONE : PROBE_HTTP_REQUEST_START;
	struct httpinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_httpinfo(&info, request, flow, endpoint);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}

static char *
put_http_response(char *at, const struct httpinfo *rq)
{
	at = app_put_number(at, ", status ", rq->rq_status);
	at = app_put_number(at, ", response ", rq->rq_response_bytes);
	at = app_put_time(at, ", first byte ", rq->rq_first_byte_us);
	at = app_put_time(at, ", total ", rq->rq_total_us);
	return rq->rq_upgraded != 0 ? PUT(at, ", upgraded") : at;
}

static char *
http_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct httpinfo *rq = firing->arg[STRUCT_HTTPINFO];

	if (ci == NULL || rq == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = PUT(at, ", ");
	at = PUT_FIELD(at, rq->rq_method);
	at = PUT(at, " ");
	at = PUT_FIELD(at, rq->rq_uri);
	at = APP_PUT_TEXT(at, ", host ", rq->rq_host);
	at = APP_PUT_TEXT(at, ", agent ", rq->rq_agent);
	at = app_put_number(at, ", request ", rq->rq_request_bytes);
	if (rq->rq_status != 0)
		at = put_http_response(at, rq);
	return app_put_number(at, ", cid ", ci->ci_cid);
}

const struct app_protocol http_app = {
    .name = "http",
    .ports = {.port = {80, 3128, 8000, 8080}, .count = 4},
    .reader = &http_reader,
    .names = true,
    .first = PROBE_HTTP_REQUEST_START,
    .last = PROBE_HTTP_REQUEST_DONE,
    .fire = http_fire,
    .text = {STRUCT_HTTPINFO, http_format_line},
};
