/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Minimal HTTP for scrapes and for a browser (RFC 9112): GET and HEAD of four pages, one request per connection.
 * libevent's HTTP server is not used, because version 2.1 accepts an unlimited number of connections.
 */
#include "daemon/metrics/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "config/metrics_address.h"
#include "daemon/metrics/http_host.h"
#include "daemon/metrics/live_page.h"
#include "daemon/metrics/service_metrics.h"
#include "daemon/query/server.h"
#include "daemon/query/unix_socket.h"
#include "daemon/stats/stats.h"

/* Interval between steps of the state counters. */
#define STATE_COUNT_NS (100 * 1000000u)

#define HTTP_REQUEST_MAX 4096u

/* For browsers: no other site may embed a reply or read it, and no copy is kept.  The page has a policy for its content
 * besides. */
#define HTTP_HEADER \
	"Connection: close\r\n" \
	"Cache-Control: no-store\r\n" \
	"Content-Security-Policy: frame-ancestors 'none'\r\n" \
	"Cross-Origin-Resource-Policy: same-origin\r\n" \
	"Referrer-Policy: no-referrer\r\n" \
	"X-Content-Type-Options: nosniff\r\n" \
	"X-Frame-Options: DENY\r\n"

#define HTTP_ERROR(status) "HTTP/1.1 " status "\r\n" HTTP_HEADER "Content-Length: 0\r\n\r\n"
/* The end of the connection ends the body. */
#define HTTP_FORBIDDEN \
	"HTTP/1.1 403 Forbidden\r\n" HTTP_HEADER "Content-Type: text/plain\r\n\r\n" \
	"The field Host of the request must name this host: localhost, 127.x.x.x or [::1].\n"

struct metrics {
	int fd; /* -1 after the server has taken it over */
	struct query_context *query;
	struct server *server;
	struct watch *timer;
	struct state_counter *state_counters; /* one per worker */
	bool local;			      /* no other host can reach the address */
	bool unix_socket;
	struct unix_socket_access access; /* to the Unix socket */
	struct page page;
};

enum metrics_path { METRICS_PATH, LIVE_PAGE_PATH, LIVE_CONNECTIONS_PATH, LIVE_SERVICES_PATH, METRICS_PATHS };

static const struct {
	const char *path, *type;
} metrics_paths[METRICS_PATHS] = {
    [METRICS_PATH] = {"/metrics", "text/plain; version=0.0.4; charset=utf-8"},
    [LIVE_PAGE_PATH] = {"/", "text/html; charset=utf-8"},
    [LIVE_CONNECTIONS_PATH] = {"/connections", "text/plain; charset=utf-8"},
    [LIVE_SERVICES_PATH] = {"/services", "text/plain; charset=utf-8"},
};

struct metrics_job {
	const char *error; /* NULL: the request is valid */
	bool head;	   /* HEAD: send no body */
	bool begun;	   /* the header is written */
	bool has_page;	   /* the metrics are written, except those of interfaces */
	uint32_t interfaces; /* number of the next interface of which they are written */
	enum metrics_path path;
	struct live_reply live;
	struct service_metrics *services; /* the rest of the metrics; NULL before */
};

_Static_assert(sizeof(struct metrics_job) <= SERVER_STATE_SIZE, "the server has memory for a job");

static void
metrics_count_states(struct metrics *metrics)
{
	struct workers *workers = metrics->query->workers;

	for (unsigned i = 0; i < workers->count; i++) {
		const struct worker *worker = &workers->worker[i];

		fair_lock_acquire(worker->lock);
		state_counter_step(&metrics->state_counters[i], observer_flows(worker->observer));
		fair_lock_release(worker->lock);
	}
}

/* ------------------------------------------------------------------------------------------------------------- HTTP */

/* Length of the request up to the empty line that ends its header, 0 if incomplete.  A body is not read. */
static size_t
metrics_request_length(const char *bytes, size_t length)
{
	const char *end = memmem(bytes, length, "\r\n\r\n", 4);

	return end != NULL ? (size_t)(end - bytes) + 4 : 0;
}

/* Whether a request may be answered: browsers of this host reach a loopback address, too, for pages of any site. */
static bool
metrics_trusts(const struct metrics *metrics, enum metrics_path path, enum http_host host)
{
	if (metrics->unix_socket || !metrics->local)
		return true;
	return host == HTTP_HOST_LOCAL || (host == HTTP_HOST_NONE && path == METRICS_PATH);
}

/* Every client may read the metrics; the page and the connections need an address that only this host can reach. */
static void
metrics_choose_path(const struct metrics *metrics, struct metrics_job *job, const char *path, enum http_host host)
{
	while (job->path < METRICS_PATHS && strcmp(path, metrics_paths[job->path].path) != 0)
		job->path++;
	if (job->path == METRICS_PATHS || (job->path != METRICS_PATH && !metrics->local))
		job->error = HTTP_ERROR("404 Not Found");
	else if (!metrics_trusts(metrics, job->path, host))
		job->error = job->head ? HTTP_ERROR("403 Forbidden") : HTTP_FORBIDDEN;
	else if ((job->path == LIVE_CONNECTIONS_PATH && !live_connections_begin(&job->live, metrics->query)) ||
		 (job->path == LIVE_SERVICES_PATH && !live_services_begin(&job->live, metrics->query)))
		job->error = HTTP_ERROR("503 Service Unavailable");
}

/* "GET /metrics HTTP/1.1" */
static void
metrics_handle_request(void *context, void *memory, char *request, size_t length, uid_t uid)
{
	const struct metrics *metrics = context;
	struct metrics_job *job = memory;
	char *end = memchr(request, '\r', length), *path, *version;
	enum http_host host = HTTP_HOST_INVALID;

	(void)uid;
	if (end[1] == '\n')
		host = http_host_find(end + 2, length - (size_t)(end + 2 - request));
	*end = '\0';
	path = strchr(request, ' ');
	version = path != NULL ? strchr(path + 1, ' ') : NULL;
	if (version == NULL || strlen(request) != (size_t)(end - request) || host == HTTP_HOST_INVALID ||
	    (strcmp(version, " HTTP/1.1") != 0 && strcmp(version, " HTTP/1.0") != 0)) {
		job->error = HTTP_ERROR("400 Bad Request");
		return;
	}
	*path++ = *version = '\0';
	path[strcspn(path, "?")] = '\0';
	job->head = strcmp(request, "HEAD") == 0;
	if (!job->head && strcmp(request, "GET") != 0)
		job->error = HTTP_ERROR("405 Method Not Allowed\r\nAllow: GET, HEAD");
	else
		metrics_choose_path(metrics, job, path, host);
}

static enum server_next
metrics_write_reply(void *context, void *memory, struct text_buffer *text)
{
	struct metrics *metrics = context;
	struct metrics_job *job = memory;

	if (job->error != NULL) {
		text_add_format(text, "%s", job->error);
		return SERVER_NEXT_END;
	}
	if (!job->begun)
		text_add_format(text, "HTTP/1.1 200 OK\r\n" HTTP_HEADER "Content-Type: %s\r\n\r\n",
				metrics_paths[job->path].type);
	job->begun = true;
	if (job->head)
		return SERVER_NEXT_END;
	if (job->path == LIVE_PAGE_PATH)
		return live_page_write(&job->live, &metrics->page, text) ? SERVER_NEXT_PART : SERVER_NEXT_END;
	if (job->path == LIVE_CONNECTIONS_PATH)
		return live_connections_write(&job->live, text) ? SERVER_NEXT_PART : SERVER_NEXT_END;
	if (job->path == LIVE_SERVICES_PATH)
		return live_services_write(&job->live, text) ? SERVER_NEXT_PART : SERVER_NEXT_END;
	if (job->services != NULL)
		return service_metrics_write(job->services, text) ? SERVER_NEXT_PART : SERVER_NEXT_END;
	if (job->has_page) {
		if (metrics_write_interfaces(metrics->query, &job->interfaces, text))
			return SERVER_NEXT_PART;
		job->services = service_metrics_new(metrics->query);
		return job->services != NULL ? SERVER_NEXT_PART : SERVER_NEXT_END;
	}
	metrics_count_states(metrics);
	metrics_write_page(metrics->query, metrics->state_counters, text);
	log_debug(DEBUG_QUERY, "metrics served: %zu bytes", text->used);
	job->has_page = true;
	return SERVER_NEXT_PART;
}

static void
metrics_release_job(void *context, void *memory)
{
	struct metrics_job *job = memory;

	(void)context;
	live_reply_end(&job->live);
	service_metrics_free(job->services);
}

static const char *
metrics_error_reply(enum server_error error)
{
	return error == SERVER_REQUEST_TOO_LONG ? HTTP_ERROR("431 Request Header Fields Too Large")
						: HTTP_ERROR("503 Service Unavailable");
}

static const struct server_ops metrics_server_ops = {.name = "metrics",
						     .request_max = HTTP_REQUEST_MAX,
						     .request_length = metrics_request_length,
						     .handle_request = metrics_handle_request,
						     .write_reply = metrics_write_reply,
						     .release_job = metrics_release_job,
						     .error_reply = metrics_error_reply};

/* ------------------------------------------------------------------------------------------------------ the address */

#define BACKLOG 64

/* What a message about an address adds to the reason.  A kernel without IPv6 refuses its sockets with the same error as
 * RestrictAddressFamilies= does. */
static const char *
metrics_explain(const union metrics_address *address, int error)
{
	if (error != EAFNOSUPPORT)
		return "";
	if (address->any.sa_family == AF_INET6 && access("/proc/self/net", X_OK) == 0 &&
	    access("/proc/self/net/if_inet6", F_OK) != 0)
		return "; the kernel has no IPv6, use an IPv4 address";
	return unit_clause("RestrictAddressFamilies= and IPAddressDeny= of the unit forbid IP");
}

/* Whether a datagram of this process reaches the host's own address: IPAddressDeny= has no effect on socket(), bind()
 * and listen(), and a packet that it rejects disappears. */
static bool
metrics_reach_host(const union metrics_address *address, socklen_t size)
{
	int fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
	union metrics_address own = *address;
	bool reached;

	/* Both families have the port at the same place; 0 chooses a free one. */
	own.in.sin_port = 0;
	reached = fd >= 0 && bind(fd, &own.any, size) == 0 && getsockname(fd, &own.any, &size) == 0 &&
		  sendto(fd, "", 0, 0, &own.any, size) == 0;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return reached;
}

/* Outside a unit the clause is empty, and nothing is sent. */
static void
metrics_warn_unreachable(const char *text, const union metrics_address *address, socklen_t size)
{
	const char *clause = unit_clause("IPAddressDeny= of the unit may forbid it");

	if (*clause != '\0' && metrics_address_is_loopback(address) && !metrics_reach_host(address, size))
		log_warning("no client can reach the metrics at %s: %s%s", text, strerror(errno), clause);
}

static int
metrics_listen_inet(const char *text, const union metrics_address *address, socklen_t size)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, error;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	    bind(fd, &address->any, size) == 0 && listen(fd, BACKLOG) == 0) {
		metrics_warn_unreachable(text, address, size);
		return fd;
	}
	error = errno;
	log_error("cannot serve metrics at %s: %s%s", text, strerror(error), metrics_explain(address, error));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Whether an address with a port is one of loopback. */
static bool
metrics_socket_is_local(const char *text)
{
	union metrics_address address;
	socklen_t size;

	return metrics_address_parse(text, &address, &size) && metrics_address_is_loopback(&address);
}

/* Listens at the configured address, nonblocking; `access` is that of a Unix socket.  -1, with a message logged, if
 * that fails. */
static int
metrics_socket_listen(const struct config *config, const struct unix_socket_access *access)
{
	const char *text = config->metrics_address;
	union metrics_address address;
	socklen_t size;

	if (strncmp(text, "unix:", 5) == 0)
		return unix_socket_listen(text + 5, access, "metrics");
	/* The options have been checked. */
	return metrics_address_parse(text, &address, &size) ? metrics_listen_inet(text, &address, size) : -1;
}

/* ---------------------------------------------------------------------------------------------------- start and end */

static void
metrics_on_timer(void *context)
{
	struct metrics *metrics = context;

	metrics_count_states(metrics);
	watch_arm_timer(metrics->timer, STATE_COUNT_NS);
}

struct metrics *
metrics_open(const struct config *config, uid_t uid)
{
	const struct unix_socket_access access = {.uid = uid, .gid = getegid(), .mode = 0666};
	struct metrics *metrics;
	int fd = metrics_socket_listen(config, &access);

	if (fd < 0)
		return NULL;
	metrics = calloc(1, sizeof *metrics);
	if (metrics == NULL) {
		log_out_of_memory();
		close(fd);
		return NULL;
	}
	metrics->fd = fd;
	metrics->access = access;
	metrics->unix_socket = strncmp(config->metrics_address, "unix:", 5) == 0;
	metrics->local = metrics->unix_socket || metrics_socket_is_local(config->metrics_address);
	page_make(&metrics->page, true);
	return metrics;
}

bool
metrics_serve(struct metrics *metrics, struct loop *loop, struct query_context *query)
{
	metrics->query = query;
	metrics->timer = loop_watch_timer(loop, metrics_on_timer, metrics);
	metrics->state_counters = calloc(query->workers->count, sizeof *metrics->state_counters);
	if (metrics->state_counters == NULL || metrics->timer == NULL || !watch_arm_timer(metrics->timer, 0))
		return log_out_of_memory();
	metrics->server =
	    server_new(&metrics_server_ops, metrics, loop, metrics->fd, metrics->unix_socket ? &metrics->access : NULL);
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
	free(metrics->state_counters);
	free(metrics);
}
