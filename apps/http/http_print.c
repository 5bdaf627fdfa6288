/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_print.h"

#include "probes/netobs.h"

static char *
put_http_text(char *at, const char *what, const char *text, size_t size)
{
	if (text[0] == '\0')
		return at;
	at = put_string(at, what);
	return put_plain_text(at, text, size);
}

static char *
put_http_time(char *at, const char *what, netobs_i64 us)
{
	if (us < 0)
		return at;
	at = put_string(at, what);
	at = put_u64(at, (uint64_t)us);
	return PUT(at, " us");
}

static char *
put_http_response(char *at, const struct httpinfo *rq)
{
	at = PUT(at, ", status ");
	at = put_u32(at, rq->rq_status);
	at = PUT(at, ", response ");
	at = put_u64(at, rq->rq_response_bytes);
	at = put_http_time(at, ", first byte ", rq->rq_first_byte_us);
	at = put_http_time(at, ", total ", rq->rq_total_us);
	return rq->rq_upgraded != 0 ? PUT(at, ", upgraded") : at;
}

char *
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
	at = put_http_text(at, ", host ", rq->rq_host, sizeof rq->rq_host);
	at = put_http_text(at, ", agent ", rq->rq_agent, sizeof rq->rq_agent);
	at = PUT(at, ", request ");
	at = put_u64(at, rq->rq_request_bytes);
	if (rq->rq_status != 0)
		at = put_http_response(at, rq);
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
