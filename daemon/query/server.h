/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One question and one answer per connection on a stream socket, as the control socket and the metrics need it.  It
 * runs in the event loop between frames.  Clients cannot delay capture: no call blocks, a question has at most
 * SERVER_QUESTION_MAX bytes, an answer is produced in pieces of bounded size and effort, the number of clients is
 * bounded, and slow clients are disconnected.
 */
#ifndef NETOBS_DAEMON_QUERY_SERVER_H
#define NETOBS_DAEMON_QUERY_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/base/loop.h"
#include "daemon/base/text_buffer.h"
#include "daemon/query/unix_socket.h"

#define SERVER_QUESTION_MAX 4096u
#define SERVER_PIECE	    (64u * 1024)
#define SERVER_JOB	    512u

/* Most clients served at once; further ones get a refusal. */
#define SERVER_CLIENTS_MAX 16u

enum server_refusal {
	REFUSED_TOO_LONG,
	REFUSED_TOO_MANY,
	REFUSED_STRANGER, /* the socket's mode does not permit the client to ask */
};

struct server_class {
	const char *what; /* name for messages, such as "control" */
	/* Length of a complete question at the start of `have` bytes, 0 if it is incomplete. */
	size_t (*whole)(const char *bytes, size_t have);
	/* Handles a complete question of `length` bytes, which may be modified, from user `uid`.  `job`, initially
	 * zero, keeps what is needed for the answer.  Bytes behind the question are ignored. */
	void (*ask)(void *context, void *job, char *question, size_t length, uid_t uid);
	/* Appends the next piece of the answer, which may be empty; false if it is the last one. */
	bool (*more)(void *context, void *job, struct text *text);
	/* The answer to a question that is refused. */
	const char *(*refusal)(enum server_refusal why);
};

struct server;

/* Starts a server on a listening socket, which it will close, for the clients that `access` permits (NULL: all).  NULL,
 * with a message logged, if out of memory; the socket is closed then too. */
struct server *server_new(const struct server_class *class, void *context, struct loop *loop, int fd,
			  const struct control_access *access);
void server_free(struct server *server);

#endif
