/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Minimal HTTP for scrapes (RFC 9112): GET and HEAD of one page, one request per connection.  libevent's HTTP server is
 * not used, because version 2.1 accepts an unlimited number of connections.
 */
#include "daemon/query/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/query/metrics_page.h"
#include "daemon/query/metrics_socket.h"
#include "daemon/query/server.h"
#include "daemon/stats/state_counter.h"

/* Interval between steps of the census. */
#define CENSUS_NS (100 * 1000000u)

#define ERROR(status) "HTTP/1.1 " status "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

struct metrics {
	int fd; /* -1 after the server has taken it over */
	struct loop *loop;
	struct insight *insight;
	struct server *server;
	struct watch *timer;
	struct census *censuses; /* one per worker */
};

struct job {
	const char *error; /* NULL: the request is valid; send the page */
	bool head;	   /* HEAD: send no body */
};

static void
count_some(struct metrics *metrics)
{
	struct workers *workers = metrics->insight->workers;

	for (unsigned i = 0; i < workers->count; i++) {
		const struct worker *worker = &workers->each[i];

		guard_enter(worker->guard);
		census_go_on(&metrics->censuses[i], observer_flows(worker->observer));
		guard_leave(worker->guard);
	}
}

/* ------------------------------------------------------------------------------------------------------------- HTTP */

/* Length of the request up to the empty line that ends its header, 0 if incomplete.  A body is not read. */
static size_t
whole_header(const char *bytes, size_t have)
{
	const char *end = memmem(bytes, have, "\r\n\r\n", 4);

	return end != NULL ? (size_t)(end - bytes) + 4 : 0;
}

/* "GET /metrics HTTP/1.1" */
static void
ask(void *context, void *memory, char *question, size_t length, uid_t uid)
{
	struct job *job = memory;
	char *end = memchr(question, '\r', length), *path, *version;

	(void)context;
	(void)uid;
	*end = '\0';
	path = strchr(question, ' ');
	version = path != NULL ? strchr(path + 1, ' ') : NULL;
	if (version == NULL || strlen(question) != (size_t)(end - question) ||
	    (strcmp(version, " HTTP/1.1") != 0 && strcmp(version, " HTTP/1.0") != 0)) {
		job->error = ERROR("400 Bad Request");
		return;
	}
	*path++ = *version = '\0';
	path[strcspn(path, "?")] = '\0';
	job->head = strcmp(question, "HEAD") == 0;
	if (!job->head && strcmp(question, "GET") != 0)
		job->error = ERROR("405 Method Not Allowed\r\nAllow: GET, HEAD");
	else if (strcmp(path, "/metrics") != 0)
		job->error = ERROR("404 Not Found");
}

static bool
more(void *context, void *memory, struct text *text)
{
	struct metrics *metrics = context;
	const struct job *job = memory;

	if (job->error != NULL) {
		text_add(text, "%s", job->error);
		return false;
	}
	text_add(text, "HTTP/1.1 200 OK\r\nConnection: close\r\n"
		       "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n\r\n");
	if (job->head)
		return false;
	count_some(metrics);
	metrics_page(metrics->insight, metrics->censuses, text);
	if (text->cut)
		log_warning("the metrics page is too long and was truncated");
	return false;
}

static const char *
refusal(enum server_refusal why)
{
	return why == REFUSED_TOO_LONG ? ERROR("431 Request Header Fields Too Large")
				       : ERROR("503 Service Unavailable");
}

static const struct server_class metrics_class = {
    .what = "metrics", .whole = whole_header, .ask = ask, .more = more, .refusal = refusal};

/* ---------------------------------------------------------------------------------------------------- start and end */

static void
count_on(void *context)
{
	struct metrics *metrics = context;

	count_some(metrics);
	timer_arm(metrics->timer, CENSUS_NS);
}

struct metrics *
metrics_open(const struct config *config, uid_t uid)
{
	struct metrics *metrics;
	int fd = metrics_socket_listen(config, uid);

	if (fd < 0)
		return NULL;
	metrics = calloc(1, sizeof *metrics);
	if (metrics == NULL) {
		log_error("out of memory");
		close(fd);
		return NULL;
	}
	metrics->fd = fd;
	return metrics;
}

bool
metrics_serve(struct metrics *metrics, struct loop *loop, struct insight *insight)
{
	metrics->loop = loop;
	metrics->insight = insight;
	metrics->timer = loop_timer(loop, count_on, metrics);
	metrics->censuses = calloc(insight->workers->count, sizeof *metrics->censuses);
	if (metrics->censuses == NULL || metrics->timer == NULL || !timer_arm(metrics->timer, 0)) {
		log_error("out of memory");
		return false;
	}
	metrics->server = server_new(&metrics_class, metrics, loop, metrics->fd, NULL);
	metrics->fd = -1;
	return metrics->server != NULL;
}

void
metrics_free(struct metrics *metrics)
{
	if (metrics == NULL)
		return;
	server_free(metrics->server);
	watch_free(metrics->timer);
	if (metrics->fd >= 0)
		close(metrics->fd);
	free(metrics->censuses);
	free(metrics);
}
