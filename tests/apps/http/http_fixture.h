/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of HTTP: a connection to port 80, and the reader's reports as lines of text.
 */
#ifndef NETOBS_TESTS_APPS_HTTP_HTTP_FIXTURE_H
#define NETOBS_TESTS_APPS_HTTP_HTTP_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/http/http.h"
#include "probes/netobs.h"
#include "tests/lib/tcp_fixture.h"

struct http_fixture {
	struct tcp_fixture tcp;
	unsigned anomalies[ANOMALY_COUNT];
	unsigned starts, dones;
	struct http_message last; /* the last request reported; its slices must not be used */
	struct httpinfo info;	  /* its argument */
	char name[256];		  /* of the connection */
	char trace[8192];	  /* "> GET /" and "< 200 GET /", with bytes and times if `verbose` */
	size_t length;
	bool verbose;
};

static inline void
http_fixture_on_message(void *context, unsigned sender, const void *reported)
{
	struct http_fixture *s = context;
	const struct http_message *message = reported;
	const struct flow flow = {.key = {.port = {1000, 80}}};

	s->starts += !message->done;
	s->dones += message->done;
	s->last = *message;
	args_httpinfo(&s->info, message, &flow, 1);
	if (sender != (message->done ? SERVER : CLIENT))
		abort();
	if (s->length > sizeof s->trace - 1024)
		return;
	s->length += (size_t)snprintf(s->trace + s->length, 600, "%s", message->done ? "< " : "> ");
	if (message->done)
		s->length += (size_t)snprintf(s->trace + s->length, 600, "%u ", (unsigned)s->info.rq_status);
	s->length += (size_t)snprintf(s->trace + s->length, 600, "%s %s", s->info.rq_method, s->info.rq_uri);
	if (s->verbose)
		s->length += (size_t)snprintf(s->trace + s->length, 100, " %u/%u %d/%d",
					      (unsigned)s->info.rq_request_bytes, (unsigned)s->info.rq_response_bytes,
					      (int)s->info.rq_first_byte_us, (int)s->info.rq_total_us);
	s->length += (size_t)snprintf(s->trace + s->length, 20, "%s\n", s->info.rq_upgraded != 0 ? " upgraded" : "");
}

static inline void
http_fixture_on_anomaly(void *context, enum anomaly a)
{
	((struct http_fixture *)context)->anomalies[a]++;
}

static inline void
http_fixture_on_name(void *context, const char *name)
{
	struct http_fixture *s = context;

	if (s->name[0] == '\0')
		snprintf(s->name, sizeof s->name, "%s", name);
}

static inline void
http_fixture_setup(struct http_fixture *s)
{
	const struct app_context ctx = {.on_message = http_fixture_on_message,
					.on_anomaly = http_fixture_on_anomaly,
					.on_name = http_fixture_on_name,
					.context = s};

	memset(s, 0, sizeof *s);
	tcp_fixture_setup(&s->tcp, &http_reader, &ctx, 80, 100);
}

#endif
