/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One question, one answer, over a stream socket: what the control socket and the metrics have in common.
 *
 * Served from the event loop between frames.  Nobody who asks can hold up capture: nothing waits, a question has at
 * most SERVER_QUESTION_MAX bytes, an answer goes out by pieces of bounded size and effort, the number of clients is
 * bounded, and who is too slow is let go.
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

/* Served at once; who comes when there are so many is told so. */
#define SERVER_CLIENTS_MAX 16u

enum server_refusal {
	REFUSED_TOO_LONG,
	REFUSED_TOO_MANY,
	REFUSED_STRANGER, /* whom the mode of the socket does not let ask */
};

struct server_class {
	const char *what; /* "control" */
	/* Bytes of a whole question at the beginning of `have` bytes, 0 if more are needed. */
	size_t (*whole)(const char *bytes, size_t have);
	/* A whole question of `length` bytes, which may be changed, by a user: `job`, zeros at first, remembers what is
	 * to be answered.  Bytes beyond the question are ignored. */
	void (*ask)(void *context, void *job, char *question, size_t length, uid_t uid);
	/* Appends the next piece of the answer, perhaps nothing; false if it is the last. */
	bool (*more)(void *context, void *job, struct text *text);
	/* A short answer to a question that is not taken. */
	const char *(*refusal)(enum server_refusal why);
};

struct server;

/* Serves a listening socket, which the server closes, for whom `access` lets ask; NULL for everybody.  NULL, with a
 * message logged, if memory cannot be had; the socket is closed then too. */
struct server *server_new(const struct server_class *class, void *context, struct loop *loop, int fd,
			  const struct control_access *access);
void server_free(struct server *server);

#endif
