/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/high_sockets.h"
#include "daemon/base/log.h"
#include "daemon/base/log_debug.h"
#include "engine/engine.h"
#include "flow/flow.h"

/* Timeouts: for a complete request, for each part of the reply to be accepted, and for the client to close. */
#define REQUEST_TIMEOUT_NS (5 * NANOSECONDS)
#define REPLY_TIMEOUT_NS   (10 * NANOSECONDS)
#define CLOSE_TIMEOUT_NS   (1 * NANOSECONDS)

/* Pause before the next accept() after descriptors ran out. */
#define ACCEPT_RETRY_NS (1 * NANOSECONDS)

/* While all places are taken and another client waits: the server closes a client that has not completed its request
 * or has accepted no byte of the reply for STALL_NS, or whose reply takes REPLY_SHARE_NS. */
#define STALL_NS       (NANOSECONDS / 10)
#define REPLY_SHARE_NS (5 * NANOSECONDS)

/* In the order in which clients are closed for others. */
enum client_stage {
	STAGE_CLOSE, /* the reply is sent, the client has not closed yet */
	STAGE_REQUEST,
	STAGE_REPLY,
};

struct server_client {
	struct server *server;
	int fd;
	uid_t uid;
	enum client_stage stage;
	uint64_t stage_start; /* monotonic time */
	uint64_t requested;   /* monotonic time of request-start */
	uint64_t progress;    /* monotonic time of the latest progress: the stage began, or bytes were accepted */
	struct watch *watch;  /* for the request, then for sending the reply, then for the close */
	struct watch *timer;
	size_t request_length; /* bytes of the request read so far */
	size_t part_sent;      /* bytes of the part sent so far */
	enum server_next next; /* after the present part */
	bool has_job;	       /* `state` is that of a request */
	struct text_buffer text;
	_Alignas(16) char state[SERVER_STATE_SIZE];
	char request[SERVER_REQUEST_MAX + 1];
	char part[SERVER_PART_SIZE];
};

struct server {
	const struct server_ops *ops;
	void *context;
	struct loop *loop;
	int fd;
	bool restricted; /* only clients that `access` allows are served */
	struct unix_socket_access access;
	struct watch *listen_watch; /* NULL while accepting is paused */
	struct watch *resume_timer;
	struct server_client *clients[SERVER_CLIENTS_MAX];
};

/* ---------------------------------------------------------------------------------------------------------- clients */

static void
client_free(struct server_client *client)
{
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (client->server->clients[i] == client)
			client->server->clients[i] = NULL;
	watch_free(client->watch);
	watch_free(client->timer);
	free(client);
}

static void
client_close(void *context)
{
	struct server_client *client = context;
	const struct server *server = client->server;

	if (client->has_job && server->ops->release_job != NULL)
		server->ops->release_job(server->context, client->state);
	close(client->fd);
	client_free(client);
}

/* The connection leaves the server. */
static void
client_leave(struct server_client *client)
{
	const struct server *server = client->server;

	watch_free(client->watch); /* before another watch of the descriptor is made */
	client->watch = NULL;
	server->ops->take_connection(server->context, client->state, client->fd);
	client_free(client);
}

static void
client_on_timeout(void *context)
{
	const struct server_client *client = context;

	log_debug(DEBUG_QUERY, "%s: a client was too slow and is disconnected", client->server->ops->name);
	client_close(context);
}

/* Moves a client to its next stage, with a timeout. */
static void
client_set_stage(struct server_client *client, enum client_stage stage, loop_callback *callback, uint64_t ns)
{
	struct loop *loop = client->server->loop;

	client->stage = stage;
	client->stage_start = client->progress = clock_monotonic_ns();
	watch_free(client->watch);
	client->watch = stage == STAGE_REPLY ? loop_watch_writable(loop, client->fd, callback, client)
					     : loop_watch_readable(loop, client->fd, callback, client);
	if (client->watch == NULL || !watch_arm_timer(client->timer, ns))
		client_close(client);
}

/* Closing with unread input sends a RST, and the client may lose the reply. */
static void
client_drain_input(void *context)
{
	struct server_client *client = context;
	ssize_t got = recv(client->fd, client->request, SERVER_REQUEST_MAX, 0);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		client_close(client);
}

static void
client_shutdown(struct server_client *client)
{
	if (shutdown(client->fd, SHUT_WR) < 0)
		client_close(client);
	else
		client_set_stage(client, STAGE_CLOSE, client_drain_input, CLOSE_TIMEOUT_NS);
}

static void client_send_reply(void *context);

static void
client_resume_reply(void *context)
{
	struct server_client *client = context;

	watch_free(client->watch);
	client->watch = loop_watch_writable(client->server->loop, client->fd, client_send_reply, client);
	if (client->watch == NULL)
		client_close(client);
}

/* The next part is not ready: a writable socket would keep the loop busy.  The server is late, not the client. */
static void
client_pause_reply(struct server_client *client)
{
	client->next = SERVER_NEXT_PART;
	client->progress = clock_monotonic_ns();
	watch_free(client->watch);
	client->watch = loop_watch_timer(client->server->loop, client_resume_reply, client);
	if (client->watch == NULL || !watch_arm_timer(client->watch, SERVER_LATER_NS))
		client_close(client);
}

/* The server searches for the next part: the client is not too slow. */
static void
client_note_empty_part(struct server_client *client)
{
	if (client->text.used > 0 || client->next != SERVER_NEXT_PART)
		return;
	client->progress = clock_monotonic_ns();
	watch_arm_timer(client->timer, REPLY_TIMEOUT_NS);
}

static void
client_send_reply(void *context)
{
	struct server_client *client = context;
	const struct server *server = client->server;
	ssize_t sent;

	if (client->part_sent == client->text.used && client->next == SERVER_NEXT_PART) {
		client->text = (struct text_buffer){.bytes = client->part, .size = sizeof client->part};
		client->part_sent = 0;
		client->next = server->ops->write_reply(server->context, client->state, &client->text);
		client_note_empty_part(client);
	}
	if (client->next == SERVER_NEXT_LEAVE) {
		client_leave(client);
		return;
	}
	sent = send(client->fd, client->part + client->part_sent, client->text.used - client->part_sent, MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		client_close(client);
		return;
	}
	if (sent > 0) {
		client->part_sent += (size_t)sent;
		client->progress = clock_monotonic_ns();
		watch_arm_timer(client->timer, REPLY_TIMEOUT_NS);
	}
	if (client->part_sent != client->text.used)
		return;
	if (client->next == SERVER_NEXT_END) {
		if (client->has_job)
			engine_request_done((uint64_t)client->fd, clock_monotonic_ns() - client->requested);
		client_shutdown(client);
	} else if (client->next == SERVER_NEXT_LATER) {
		client_pause_reply(client);
	}
}

static void
client_read_request(void *context)
{
	struct server_client *client = context;
	const struct server *server = client->server;
	ssize_t got =
	    recv(client->fd, client->request + client->request_length, SERVER_REQUEST_MAX - client->request_length, 0);
	size_t length;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		client_close(client);
		return;
	}
	client->request_length += (size_t)got;
	length = server->ops->request_length(client->request, client->request_length);
	if (length > 0) {
		client->requested = clock_monotonic_ns();
		engine_request_start((uint64_t)client->fd, length);
		server->ops->handle_request(server->context, client->state, client->request, length, client->uid);
		client->has_job = true;
		client->next = SERVER_NEXT_PART;
	} else if (client->request_length == SERVER_REQUEST_MAX) {
		client->text = (struct text_buffer){.bytes = client->part, .size = sizeof client->part};
		text_add_format(&client->text, "%s", server->ops->error_reply(SERVER_REQUEST_TOO_LONG));
		client->next = SERVER_NEXT_END;
	} else {
		return;
	}
	client_set_stage(client, STAGE_REPLY, client_send_reply, REPLY_TIMEOUT_NS);
}

/* -------------------------------------------------------------------------------------------------------- accepting */

/* Whether the server has yet to serve the client: its first bytes have arrived, or its socket has space for more of the
 * reply.  A busy capture may delay the server for longer than STALL_NS. */
static bool
client_is_ready(const struct server_client *client)
{
	struct pollfd ready = {.fd = client->fd, .events = client->stage == STAGE_REPLY ? POLLOUT : POLLIN};

	return (client->stage == STAGE_REPLY || client->request_length == 0) && poll(&ready, 1, 0) > 0;
}

/* Whether the client may be closed because another one waits. */
static bool
client_is_stalled(const struct server_client *client, uint64_t now)
{
	if (client->stage == STAGE_CLOSE ||
	    (client->stage == STAGE_REPLY && now - client->stage_start >= REPLY_SHARE_NS))
		return true;
	return now - client->progress >= STALL_NS && !client_is_ready(client);
}

/* Of the stalled clients the one to be closed first; NULL if there is none. */
static struct server_client *
server_find_stalled(const struct server *server)
{
	uint64_t now = clock_monotonic_ns();
	struct server_client *found = NULL;

	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++) {
		struct server_client *client = server->clients[i];

		if (client == NULL || !client_is_stalled(client, now))
			continue;
		if (found == NULL || client->stage < found->stage ||
		    (client->stage == found->stage && client->progress < found->progress))
			found = client;
	}
	return found;
}

/* Index of a free place, SERVER_CLIENTS_MAX if there is none. */
static unsigned
server_find_place(const struct server *server)
{
	unsigned index = 0;

	while (index < SERVER_CLIENTS_MAX && server->clients[index] != NULL)
		index++;
	return index;
}

/* Sends an error reply, best effort: the buffer of a new socket has space for a line. */
static void
server_reject(int fd, const char *line)
{
	(void)!send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

/* `stalled`: the client to be closed for the new one; NULL if there is a free place. */
static void
server_add_client(struct server *server, int fd, struct server_client *stalled)
{
	struct server_client *client;
	uid_t uid = (uid_t)-1;

	if (server->restricted && !unix_socket_check_peer(fd, &server->access, &uid)) {
		log_debug(DEBUG_QUERY, "%s: user %ld is not permitted", server->ops->name, (long)uid);
		server_reject(fd, server->ops->error_reply(SERVER_NOT_PERMITTED));
		return;
	}
	if (stalled != NULL) {
		log_debug(DEBUG_QUERY, "%s: a stalled client is disconnected: %u are connected, another one waits",
			  server->ops->name, SERVER_CLIENTS_MAX);
		client_close(stalled);
	}
	client = calloc(1, sizeof *client);
	if (client == NULL) {
		server_reject(fd, server->ops->error_reply(SERVER_OUT_OF_MEMORY));
		return;
	}
	client->server = server;
	client->fd = fd;
	client->uid = uid;
	client->timer = loop_watch_timer(server->loop, client_on_timeout, client);
	if (client->timer == NULL) {
		client_close(client);
		return;
	}
	server->clients[server_find_place(server)] = client;
	client_set_stage(client, STAGE_REQUEST, client_read_request, REQUEST_TIMEOUT_NS);
}

static void server_accept(void *context);

static bool
server_start_accepting(struct server *server)
{
	server->listen_watch = loop_watch_readable(server->loop, server->fd, server_accept, server);
	return server->listen_watch != NULL;
}

static void
server_resume_accepting(void *context)
{
	struct server *server = context;

	if (server->listen_watch == NULL && !server_start_accepting(server))
		watch_arm_timer(server->resume_timer, ACCEPT_RETRY_NS);
}

/* Otherwise the readable socket would keep the loop busy. */
static void
server_pause_accepting(struct server *server, uint64_t ns)
{
	watch_free(server->listen_watch);
	server->listen_watch = NULL;
	watch_arm_timer(server->resume_timer, ns);
}

/* Accepting pauses while all places are taken and no client is stalled, and when descriptors run out. */
static void
server_accept(void *context)
{
	struct server *server = context;
	struct server_client *stalled = NULL;
	int fd;

	if (server_find_place(server) == SERVER_CLIENTS_MAX && (stalled = server_find_stalled(server)) == NULL) {
		server_pause_accepting(server, STALL_NS);
		return;
	}
	fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (high_sockets_include(fd)) { /* the system-call filter would not let it be answered */
		close(fd);
		errno = EMFILE;
		fd = -1;
	}
	if (fd >= 0) {
		server_add_client(server, fd, stalled);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	log_warning("the %s socket temporarily accepts no connections: %s", server->ops->name, strerror(errno));
	server_pause_accepting(server, ACCEPT_RETRY_NS);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

struct server *
server_new(const struct server_ops *ops, void *context, struct loop *loop, int fd,
	   const struct unix_socket_access *access)
{
	struct server *server = calloc(1, sizeof *server);

	if (server == NULL) {
		log_error("out of memory");
		close(fd);
		return NULL;
	}
	server->ops = ops;
	server->context = context;
	server->loop = loop;
	server->fd = fd;
	server->restricted = access != NULL;
	if (access != NULL)
		server->access = *access;
	server->resume_timer = loop_watch_timer(loop, server_resume_accepting, server);
	if (server->resume_timer != NULL && server_start_accepting(server))
		return server;
	log_error("cannot serve the %s socket: out of memory", ops->name);
	server_free(server);
	return NULL;
}

void
server_free(struct server *server)
{
	if (server == NULL)
		return;
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (server->clients[i] != NULL)
			client_close(server->clients[i]);
	watch_free(server->listen_watch);
	watch_free(server->resume_timer);
	close(server->fd);
	free(server);
}
