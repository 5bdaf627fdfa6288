/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "flow/flow.h"

/* Timeouts: for a complete question, for each piece of the answer to be accepted, and for the client to close. */
#define ASK_NS	  (5 * NANOSECONDS)
#define TAKE_NS	  (10 * NANOSECONDS)
#define LINGER_NS (1 * NANOSECONDS)

/* Pause before the next accept() after descriptors ran out. */
#define PAUSE_NS (1 * NANOSECONDS)

struct client {
	struct server *server;
	int fd;
	uid_t uid;
	struct watch *watch; /* for the question, then for writing the answer, then for the close */
	struct watch *timer;
	size_t asked; /* bytes of the question read so far */
	size_t sent;  /* bytes of the piece sent so far */
	bool last;    /* the present piece is the last one */
	struct text text;
	_Alignas(16) char job[SERVER_JOB];
	char question[SERVER_QUESTION_MAX + 1];
	char piece[SERVER_PIECE];
};

struct server {
	const struct server_class *class;
	void *context;
	struct loop *loop;
	int fd;
	bool restricted; /* only clients that `access` allows are served */
	struct control_access access;
	struct watch *listener; /* NULL while accepting is paused */
	struct watch *pause;
	struct client *clients[SERVER_CLIENTS_MAX];
};

/* ---------------------------------------------------------------------------------------------------------- clients */

static void
let_go(void *context)
{
	struct client *client = context;

	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (client->server->clients[i] == client)
			client->server->clients[i] = NULL;
	watch_free(client->watch);
	watch_free(client->timer);
	close(client->fd);
	free(client);
}

/* Moves a client to its next stage, with a timeout. */
static void
watch_for(struct client *client, bool writable, loop_callback *callback, uint64_t ns)
{
	struct loop *loop = client->server->loop;

	watch_free(client->watch);
	client->watch = writable ? loop_watch_writable(loop, client->fd, callback, client)
				 : loop_watch_fd(loop, client->fd, callback, client);
	if (client->watch == NULL || !timer_arm(client->timer, ns))
		let_go(client);
}

/* Closing with unread input sends a RST, and the client may lose the reply. */
static void
read_to_end(void *context)
{
	struct client *client = context;
	ssize_t got = recv(client->fd, client->question, SERVER_QUESTION_MAX, 0);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		let_go(client);
}

static void
finish(struct client *client)
{
	if (shutdown(client->fd, SHUT_WR) < 0)
		let_go(client);
	else
		watch_for(client, false, read_to_end, LINGER_NS);
}

static void
answer(void *context)
{
	struct client *client = context;
	const struct server *server = client->server;
	ssize_t sent;

	if (client->sent == client->text.used && !client->last) {
		client->text = (struct text){.bytes = client->piece, .size = sizeof client->piece};
		client->sent = 0;
		client->last = !server->class->more(server->context, client->job, &client->text);
	}
	sent = send(client->fd, client->piece + client->sent, client->text.used - client->sent, MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		let_go(client);
		return;
	}
	if (sent > 0) {
		client->sent += (size_t)sent;
		timer_arm(client->timer, TAKE_NS);
	}
	if (client->sent == client->text.used && client->last)
		finish(client);
}

static void
read_question(void *context)
{
	struct client *client = context;
	const struct server *server = client->server;
	ssize_t got = recv(client->fd, client->question + client->asked, SERVER_QUESTION_MAX - client->asked, 0);
	size_t length;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		let_go(client);
		return;
	}
	client->asked += (size_t)got;
	length = server->class->whole(client->question, client->asked);
	if (length > 0) {
		server->class->ask(server->context, client->job, client->question, length, client->uid);
	} else if (client->asked == SERVER_QUESTION_MAX) {
		client->text = (struct text){.bytes = client->piece, .size = sizeof client->piece};
		text_add(&client->text, "%s", server->class->refusal(REFUSED_TOO_LONG));
		client->last = true;
	} else {
		return;
	}
	watch_for(client, true, answer, TAKE_NS);
}

/* -------------------------------------------------------------------------------------------------------- accepting */

/* Sends a refusal, best effort: the buffer of a new socket has room for a line. */
static void
turn_away(int fd, const char *line)
{
	(void)!send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void
welcome(struct server *server, int fd)
{
	struct client *client = NULL;
	unsigned place = 0;
	uid_t uid = (uid_t)-1;

	if (server->restricted && !control_socket_may(fd, &server->access, &uid)) {
		turn_away(fd, server->class->refusal(REFUSED_STRANGER));
		return;
	}
	while (place < SERVER_CLIENTS_MAX && server->clients[place] != NULL)
		place++;
	if (place < SERVER_CLIENTS_MAX)
		client = calloc(1, sizeof *client);
	if (client == NULL) {
		turn_away(fd, server->class->refusal(REFUSED_TOO_MANY));
		return;
	}
	client->server = server;
	client->fd = fd;
	client->uid = uid;
	client->timer = loop_timer(server->loop, let_go, client);
	if (client->timer == NULL) {
		let_go(client);
		return;
	}
	server->clients[place] = client;
	watch_for(client, false, read_question, ASK_NS);
}

static void accept_next(void *context);

static bool
start_accepting(struct server *server)
{
	server->listener = loop_watch_fd(server->loop, server->fd, accept_next, server);
	return server->listener != NULL;
}

static void
accept_again(void *context)
{
	struct server *server = context;

	if (server->listener == NULL && !start_accepting(server))
		timer_arm(server->pause, PAUSE_NS);
}

/* Accepting pauses when descriptors run out; otherwise the readable socket would keep the loop busy. */
static void
accept_next(void *context)
{
	struct server *server = context;
	int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		welcome(server, fd);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	log_warning("the %s socket temporarily accepts no connections: %s", server->class->what, strerror(errno));
	watch_free(server->listener);
	server->listener = NULL;
	timer_arm(server->pause, PAUSE_NS);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

struct server *
server_new(const struct server_class *class, void *context, struct loop *loop, int fd,
	   const struct control_access *access)
{
	struct server *server = calloc(1, sizeof *server);

	if (server == NULL) {
		log_error("out of memory");
		close(fd);
		return NULL;
	}
	server->class = class;
	server->context = context;
	server->loop = loop;
	server->fd = fd;
	server->restricted = access != NULL;
	if (access != NULL)
		server->access = *access;
	server->pause = loop_timer(loop, accept_again, server);
	if (server->pause != NULL && start_accepting(server))
		return server;
	log_error("cannot serve the %s socket: out of memory", class->what);
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
			let_go(server->clients[i]);
	watch_free(server->listener);
	watch_free(server->pause);
	close(server->fd);
	free(server);
}
