/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One request and one reply per connection on a stream socket, as the control socket and the metrics need it.  It runs
 * in the event loop between frames.  Clients cannot delay capture: no call blocks, a request has at most
 * SERVER_REQUEST_MAX bytes, a reply is produced in parts of bounded size and effort, the number of clients is bounded,
 * and slow clients are disconnected.  Clients cannot keep others out: while all places are taken and another client
 * waits, one that is silent or does not read its reply is disconnected after a tenth of a second.  Root and the user of
 * netobsd are privileged where a client is known: they have places of their own, and if these are taken the place of
 * any other client, and the last descriptors are theirs.  When too many clients wait, or
 * descriptors run out, a client is told so.
 */
#ifndef NETOBS_DAEMON_QUERY_SERVER_H
#define NETOBS_DAEMON_QUERY_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/text.h"
#include "config/config.h"
#include "daemon/query/unix_socket.h"

/* Most bytes of a request: the longest has the filter of a capture. */
#define SERVER_REQUEST_MAX (64u * 1024)
#define SERVER_PART_SIZE   (64u * 1024)
#define SERVER_STATE_SIZE  704u

/* Most clients served at once, and further ones that are privileged; others wait until a place is free. */
#define SERVER_CLIENTS_MAX    16u
#define SERVER_PRIVILEGED_MAX 4u

/* Most clients that wait, and that are told at the same time that they are not served. */
#define SERVER_WAITING_MAX 64u
#define SERVER_REFUSED_MAX 4u

/* Most descriptors of clients, without those of connections that have left the server. */
#define SERVER_DESCRIPTORS_MAX (SERVER_CLIENTS_MAX + SERVER_PRIVILEGED_MAX + SERVER_WAITING_MAX + SERVER_REFUSED_MAX)

enum server_error {
	SERVER_REQUEST_TOO_LONG,
	SERVER_OUT_OF_MEMORY,
	SERVER_NOT_PERMITTED,  /* the socket's mode does not permit this client */
	SERVER_BUSY,	       /* too many clients wait */
	SERVER_NO_DESCRIPTORS, /* netobsd has no descriptor for the client */
};

/* After a part of a reply. */
enum server_next {
	SERVER_NEXT_END,   /* the part is the last one */
	SERVER_NEXT_PART,  /* another part follows */
	SERVER_NEXT_LATER, /* another part follows after SERVER_LATER_NS: it is not ready yet */
	SERVER_NEXT_LEAVE, /* the connection leaves the server, see take_connection(); this part must be empty */
};

#define SERVER_LATER_NS 5000000u

struct server_ops {
	const char *name;   /* name for messages, such as "control" */
	size_t request_max; /* most bytes of a request, up to SERVER_REQUEST_MAX */
	/* Length of a complete request at the start of `length` bytes, 0 if it is incomplete. */
	size_t (*request_length)(const char *bytes, size_t length);
	/* Handles a complete request of `length` bytes, which may be modified, from user `uid`.  `job`, initially
	 * zero, keeps what is needed for the reply.  Bytes after the request are ignored. */
	void (*handle_request)(void *context, void *job, char *request, size_t length, uid_t uid);
	/* Appends the next part of the reply, which may be empty.  With one that is truncated the reply breaks off. */
	enum server_next (*write_reply)(void *context, void *job, struct text_buffer *text);
	/* After SERVER_NEXT_LEAVE: takes over the nonblocking socket of a client, which is no longer one of the
	 * server's clients: its limits of number and time do not apply.  client_descriptors_close() closes it.
	 * NULL if connections never leave. */
	void (*take_connection)(void *context, void *job, int fd);
	/* Releases what `job` holds, after handle_request(), if the connection has not left.  NULL: nothing. */
	void (*release_job)(void *context, void *job);
	/* The reply to a request that is rejected. */
	const char *(*error_reply)(enum server_error error);
};

struct server;

/* Starts a server on a listening socket, which it will close, for the clients that `access` permits (NULL: all).  NULL,
 * with a message logged, if out of memory; the socket is closed then too. */
struct server *server_new(const struct server_ops *ops, void *context, struct loop *loop, int fd,
			  const struct unix_socket_access *access);
void server_free(struct server *server);

/* The descriptors of the clients of the process: those of the control socket, of the metrics and of streams.  They have
 * a limit, so that clients leave enough for capture, and other users leave some for privileged clients.  For the main
 * thread only. */

/* The last descriptors, which only privileged clients may have: their places of one server, and the clients of two
 * servers that are just told that they are not served. */
#define CLIENT_DESCRIPTORS_PRIVILEGED 12u

/* Most descriptors that the clients of this configuration can have. */
unsigned client_descriptors_wanted(const struct config *config);

/* Sets the limit, at least CLIENT_DESCRIPTORS_PRIVILEGED; there is no limit before. */
void client_descriptors_limit(unsigned most);

/* Closes the descriptor of a client. */
void client_descriptors_close(int fd);

#endif
