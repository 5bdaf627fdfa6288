/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/high_sockets.h"
#include "base/log.h"
#include "engine/engine.h"
#include "flow/flow.h"
#include "probes/feed/feed.h"

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

/* Connections taken from the kernel in one turn of the loop, so that many of them do not delay capture. */
#define ACCEPTS_MAX 16u

/* Places, in this order: for all clients, for privileged ones, and for those that are told that they are not served. */
#define PRIVILEGED_PLACES SERVER_CLIENTS_MAX
#define REFUSED_PLACES	  (PRIVILEGED_PLACES + SERVER_PRIVILEGED_MAX)
#define PLACES		  (REFUSED_PLACES + SERVER_REFUSED_MAX)

_Static_assert(CLIENT_DESCRIPTORS_PRIVILEGED == SERVER_PRIVILEGED_MAX + 2 * SERVER_REFUSED_MAX,
	       "clients that are refused leave the privileged ones their places");

/* Of clients that are not privileged, those of the metrics among them, however few descriptors there are. */
#define OTHERS_LEAST 4u

static unsigned limit = UINT_MAX;
static unsigned count;

unsigned
client_descriptors_wanted(const struct config *config)
{
	unsigned wanted = 0;

	if (config->control_path != NULL)
		wanted += SERVER_DESCRIPTORS_MAX + FEEDS_MAX;
	if (config->metrics_address != NULL)
		wanted += SERVER_DESCRIPTORS_MAX;
	return wanted;
}

void
client_descriptors_limit(unsigned most)
{
	unsigned least = CLIENT_DESCRIPTORS_PRIVILEGED + OTHERS_LEAST;

	limit = most > least ? most : least;
}

/* Counts the descriptor of a client. */
static void
client_descriptors_add(void)
{
	count++;
}

/* Whether there are more than a client may add to. */
static bool
client_descriptors_exceed(bool privileged)
{
	return count > limit - (privileged ? 0 : CLIENT_DESCRIPTORS_PRIVILEGED);
}

void
client_descriptors_close(int fd)
{
	close(fd);
	count--;
}

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
	bool privileged;
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
	char part[SERVER_PART_SIZE];
	char request[]; /* `request_max` of the server, and a NUL */
};

/* A connection that waits for a place; nothing is read from it yet. */
struct waiting_client {
	int fd;
	uid_t uid;
	bool privileged;
};

struct server {
	const struct server_ops *ops;
	void *context;
	struct loop *loop;
	int fd;
	int reserve;	 /* an open descriptor, closed when a connection needs its number; -1: it is in use */
	bool restricted; /* only clients that `access` allows are served */
	struct unix_socket_access access;
	struct watch *listen_watch; /* NULL while accepting is paused */
	struct watch *resume_timer;
	struct watch *place_timer; /* looks for places while clients wait */
	struct server_client *clients[PLACES];
	struct waiting_client waiting[SERVER_WAITING_MAX]; /* in order of time */
	unsigned waiting_count;
};

/* ---------------------------------------------------------------------------------------------------------- clients */

/* Opens a descriptor that a client could have.  The system-call filter lets no client be answered that has a high one.
 * -1, with errno, if there is none. */
static int
server_open_low(const struct server *server)
{
	int fd = fcntl(server->fd, F_DUPFD_CLOEXEC, 0);

	if (!high_sockets_include(fd))
		return fd;
	close(fd);
	errno = EMFILE;
	return -1;
}

/* A descriptor is free: the reserve takes it first. */
static void
server_restore_reserve(struct server *server)
{
	if (server->reserve < 0)
		server->reserve = server_open_low(server);
}

static void
client_free(struct server_client *client)
{
	struct server *server = client->server;

	for (unsigned i = 0; i < PLACES; i++)
		if (server->clients[i] == client)
			server->clients[i] = NULL;
	watch_free(client->watch);
	watch_free(client->timer);
	free(client);
	if (server->waiting_count > 0)
		watch_arm_timer(server->place_timer, 0);
}

static void
client_close(void *context)
{
	struct server_client *client = context;
	struct server *server = client->server;

	if (client->has_job && server->ops->release_job != NULL)
		server->ops->release_job(server->context, client->state);
	client_descriptors_close(client->fd);
	server_restore_reserve(server);
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
	ssize_t got = recv(client->fd, client->request, client->server->ops->request_max, 0);

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

/* The part is longer than it may be.  The reply ends within a line, by which the client knows that it is incomplete. */
static void
client_break_off(struct server_client *client)
{
	struct text_buffer *text = &client->text;

	log_warning("a reply of the %s socket breaks off: a part of it is longer than %u bytes",
		    client->server->ops->name, SERVER_PART_SIZE);
	while (text->used > 0 && text->bytes[text->used - 1] == '\n')
		text->used--;
	client->next = SERVER_NEXT_END;
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
		if (client->text.truncated)
			client_break_off(client);
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

/* The reply is an error. */
static void
client_set_error(struct server_client *client, enum server_error error)
{
	client->text = (struct text_buffer){.bytes = client->part, .size = sizeof client->part};
	text_add_format(&client->text, "%s", client->server->ops->error_reply(error));
	client->next = SERVER_NEXT_END;
}

static void
client_read_request(void *context)
{
	struct server_client *client = context;
	const struct server *server = client->server;
	ssize_t got = recv(client->fd, client->request + client->request_length,
			   server->ops->request_max - client->request_length, 0);
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
	} else if (client->request_length == server->ops->request_max) {
		client_set_error(client, SERVER_REQUEST_TOO_LONG);
	} else {
		return;
	}
	client_set_stage(client, STAGE_REPLY, client_send_reply, REPLY_TIMEOUT_NS);
}

/* ----------------------------------------------------------------------------------------------------------- places */

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

/* Of two clients the one to be closed first; either may be NULL. */
static struct server_client *
client_choose(struct server_client *client, struct server_client *other)
{
	if (client == NULL || other == NULL)
		return client != NULL ? client : other;
	if (client->stage != other->stage)
		return client->stage < other->stage ? client : other;
	return client->progress <= other->progress ? client : other;
}

/* The client to be closed for one that waits, NULL if there is none: a stalled one, or for a privileged client any that
 * is not privileged.  A client that is not privileged takes no place of one that is. */
static struct server_client *
server_find_victim(const struct server *server, bool privileged)
{
	uint64_t now = clock_monotonic_ns();
	struct server_client *stalled = NULL, *lesser = NULL;

	for (unsigned i = 0; i < REFUSED_PLACES; i++) {
		struct server_client *client = server->clients[i];

		if (client == NULL || (client->privileged && !privileged))
			continue;
		if (client_is_stalled(client, now))
			stalled = client_choose(stalled, client);
		if (!client->privileged)
			lesser = client_choose(lesser, client);
	}
	return stalled != NULL || !privileged ? stalled : lesser;
}

/* Index of a free place from `first` to before `end`, PLACES if there is none. */
static unsigned
server_find_place(const struct server *server, unsigned first, unsigned end)
{
	while (first < end && server->clients[first] != NULL)
		first++;
	return first < end ? first : PLACES;
}

static unsigned
server_find_free_place(const struct server *server, bool privileged)
{
	unsigned place = privileged ? server_find_place(server, PRIVILEGED_PLACES, REFUSED_PLACES) : PLACES;

	return place != PLACES ? place : server_find_place(server, 0, PRIVILEGED_PLACES);
}

/* Finds a free place, or disconnects a client if that must be and may be.  Returns the index, PLACES if there is
 * none. */
static unsigned
server_make_place(const struct server *server, bool privileged)
{
	unsigned place = server_find_free_place(server, privileged);
	struct server_client *victim;

	if (place != PLACES)
		return place;
	victim = server_find_victim(server, privileged);
	if (victim == NULL)
		return PLACES;
	log_debug(DEBUG_QUERY, "%s: a %s client is disconnected: all places are taken, another one waits",
		  server->ops->name, client_is_stalled(victim, clock_monotonic_ns()) ? "stalled" : "less privileged");
	for (place = 0; server->clients[place] != victim;)
		place++;
	client_close(victim);
	return place;
}

/* Takes over a connection.  NULL, and it is closed, if out of memory. */
static struct server_client *
server_add_client(struct server *server, unsigned place, const struct waiting_client *waiting)
{
	struct server_client *client = calloc(1, sizeof *client + server->ops->request_max + 1);
	const char *line = server->ops->error_reply(SERVER_OUT_OF_MEMORY);

	if (client != NULL)
		client->timer = loop_watch_timer(server->loop, client_on_timeout, client);
	if (client == NULL || client->timer == NULL) {
		/* Best effort: the buffer of a new socket has space for a line. */
		(void)!send(waiting->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
		client_descriptors_close(waiting->fd);
		server_restore_reserve(server);
		free(client);
		return NULL;
	}
	client->server = server;
	client->fd = waiting->fd;
	client->uid = waiting->uid;
	client->privileged = waiting->privileged;
	server->clients[place] = client;
	return client;
}

/* Serves a client if there is a place, or one can be made. */
static bool
server_serve(struct server *server, const struct waiting_client *waiting)
{
	unsigned place = server_make_place(server, waiting->privileged);
	struct server_client *client;

	if (place == PLACES)
		return false;
	client = server_add_client(server, place, waiting);
	if (client != NULL)
		client_set_stage(client, STAGE_REQUEST, client_read_request, REQUEST_TIMEOUT_NS);
	return true;
}

/* Replies with an error to whatever the client requests.  Of too many such clients the oldest is closed, so the reply
 * is sent at once: the buffer of a new socket has space for it. */
static void
server_refuse(struct server *server, const struct waiting_client *waiting, enum server_error error)
{
	unsigned place = server_find_place(server, REFUSED_PLACES, PLACES);
	struct server_client *client = NULL;
	ssize_t sent;

	if (place == PLACES) {
		for (place = REFUSED_PLACES; place < PLACES; place++)
			client = client_choose(client, server->clients[place]);
		for (place = REFUSED_PLACES; server->clients[place] != client;)
			place++;
		client_close(client);
	}
	client = server_add_client(server, place, waiting);
	if (client == NULL)
		return;
	client_set_error(client, error);
	sent = send(client->fd, client->part, client->text.used, MSG_NOSIGNAL);
	client->part_sent = sent > 0 ? (size_t)sent : 0;
	client_set_stage(client, STAGE_REPLY, client_send_reply, CLOSE_TIMEOUT_NS);
}

/* --------------------------------------------------------------------------------------------------------- waiting */

static struct waiting_client
server_remove_waiting(struct server *server, unsigned index)
{
	struct waiting_client removed = server->waiting[index];

	server->waiting_count--;
	memmove(&server->waiting[index], &server->waiting[index + 1],
		(server->waiting_count - index) * sizeof server->waiting[0]);
	return removed;
}

/* The client waits for a place.  If too many wait, the last one that is not privileged is refused. */
static void
server_add_waiting(struct server *server, const struct waiting_client *client)
{
	struct waiting_client refused;
	unsigned last = server->waiting_count;

	if (server->waiting_count == SERVER_WAITING_MAX) {
		while (client->privileged && last > 0 && server->waiting[last - 1].privileged)
			last--;
		if (!client->privileged || last == 0) {
			server_refuse(server, client, SERVER_BUSY);
			return;
		}
		refused = server_remove_waiting(server, last - 1);
		server_refuse(server, &refused, SERVER_BUSY);
	}
	server->waiting[server->waiting_count++] = *client;
	watch_arm_timer(server->place_timer, STALL_NS);
}

/* Serves clients that wait, privileged ones first. */
static void
server_serve_waiting(void *context)
{
	struct server *server = context;

	for (int privileged = 1; privileged >= 0; privileged--)
		for (unsigned i = 0; i < server->waiting_count;) {
			struct waiting_client *client = &server->waiting[i];

			if (client->privileged != (privileged != 0)) {
				i++;
				continue;
			}
			if (!server_serve(server, client))
				break;
			server_remove_waiting(server, i);
		}
	if (server->waiting_count > 0)
		watch_arm_timer(server->place_timer, STALL_NS);
}

/* -------------------------------------------------------------------------------------------------------- accepting */

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
server_pause_accepting(struct server *server)
{
	watch_free(server->listen_watch);
	server->listen_watch = NULL;
	watch_arm_timer(server->resume_timer, ACCEPT_RETRY_NS);
}

/* A low descriptor must be free before the kernel is asked for the connection: one with a high descriptor can only be
 * closed. */
static int
server_accept_connection(const struct server *server)
{
	int free = server_open_low(server), fd;

	if (free < 0)
		return -1;
	close(free);
	fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (high_sockets_include(fd)) { /* another thread was faster */
		close(fd);
		fd = -1;
		errno = EMFILE;
	}
	if (fd >= 0)
		client_descriptors_add();
	return fd;
}

/* All descriptors are in use.  The reserve lets one client know; the next one takes its place. */
static int
server_accept_with_reserve(struct server *server)
{
	struct server_client *refused = NULL;
	int fd, error;

	for (unsigned i = REFUSED_PLACES; server->reserve < 0 && i < PLACES; i++)
		refused = client_choose(refused, server->clients[i]);
	if (refused != NULL)
		client_close(refused);
	if (server->reserve >= 0)
		close(server->reserve);
	server->reserve = -1;
	fd = server_accept_connection(server);
	error = errno;
	if (fd < 0)
		server_restore_reserve(server);
	errno = error;
	return fd;
}

/* Finds the user of a client.  False if the client may not connect. */
static bool
server_check_client(const struct server *server, struct waiting_client *client)
{
	if (!server->restricted)
		return true;
	if (!unix_socket_check_peer(client->fd, &server->access, &client->uid))
		return false;
	client->privileged = client->uid == 0 || client->uid == server->access.uid;
	return true;
}

/* Whether a client may keep its descriptor, after `shortage` was found.  For a privileged client another one is
 * disconnected if necessary. */
static bool
server_has_descriptor(const struct server *server, const struct waiting_client *client, bool shortage)
{
	struct server_client *victim;

	if (!client->privileged)
		return !shortage && !client_descriptors_exceed(false);
	if (!client_descriptors_exceed(true))
		return true;
	victim = server_find_victim(server, true);
	if (victim != NULL)
		client_close(victim);
	return victim != NULL;
}

/* Accepts a connection.  False if there is none, or it failed. */
static bool
server_accept_one(struct server *server)
{
	struct waiting_client client = {.fd = server_accept_connection(server), .uid = (uid_t)-1};
	int shortage = client.fd < 0 && (errno == EMFILE || errno == ENFILE) ? errno : 0;

	if (shortage != 0)
		client.fd = server_accept_with_reserve(server);
	if (client.fd < 0) {
		if (errno == EINTR || errno == ECONNABORTED)
			return true;
		if (errno == EAGAIN)
			return false;
		log_warning("the %s socket temporarily accepts no connections: %s", server->ops->name, strerror(errno));
		server_pause_accepting(server);
		return false;
	}
	if (!server_check_client(server, &client)) {
		log_debug(DEBUG_QUERY, "%s: user %ld is not permitted", server->ops->name, (long)client.uid);
		server_refuse(server, &client, SERVER_NOT_PERMITTED);
	} else if (!server_has_descriptor(server, &client, shortage != 0)) {
		log_warning("the %s socket tells its clients that netobsd is busy: %s", server->ops->name,
			    strerror(shortage != 0 ? shortage : EMFILE));
		server_refuse(server, &client, SERVER_NO_DESCRIPTORS);
	} else if ((server->waiting_count > 0 && !client.privileged) || !server_serve(server, &client)) {
		server_add_waiting(server, &client);
	}
	return true;
}

/* Every connection is accepted at once: the user of a client is known only then. */
static void
server_accept(void *context)
{
	struct server *server = context;

	for (unsigned i = 0; i < ACCEPTS_MAX; i++)
		if (!server_accept_one(server))
			break;
}

/* ---------------------------------------------------------------------------------------------------- start and end */

struct server *
server_new(const struct server_ops *ops, void *context, struct loop *loop, int fd,
	   const struct unix_socket_access *access)
{
	struct server *server = calloc(1, sizeof *server);

	if (server == NULL) {
		log_out_of_memory();
		close(fd);
		return NULL;
	}
	server->ops = ops;
	server->context = context;
	server->loop = loop;
	server->fd = fd;
	server->reserve = -1;
	server_restore_reserve(server);
	server->restricted = access != NULL;
	if (access != NULL)
		server->access = *access;
	server->resume_timer = loop_watch_timer(loop, server_resume_accepting, server);
	server->place_timer = loop_watch_timer(loop, server_serve_waiting, server);
	if (server->resume_timer != NULL && server->place_timer != NULL && server_start_accepting(server))
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
	while (server->waiting_count > 0)
		client_descriptors_close(server->waiting[--server->waiting_count].fd);
	for (unsigned i = 0; i < PLACES; i++)
		if (server->clients[i] != NULL)
			client_close(server->clients[i]);
	watch_free(server->listen_watch);
	watch_free(server->resume_timer);
	watch_free(server->place_timer);
	if (server->reserve >= 0)
		close(server->reserve);
	close(server->fd);
	free(server);
}
