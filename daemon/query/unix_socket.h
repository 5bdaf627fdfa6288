/* SPDX-License-Identifier: BSD-2-Clause */
/* A listening Unix socket at a path, safely made. */
#ifndef NETOBS_DAEMON_QUERY_UNIX_SOCKET_H
#define NETOBS_DAEMON_QUERY_UNIX_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

struct control_access {
	uid_t uid;   /* whose the socket is */
	gid_t gid;   /* its group */
	mode_t mode; /* who may connect: write permission */
};

/* Listens at `path`, nonblocking.  A socket there that nobody listens on any more is replaced.  `what` is for messages
 * ("control").  -1, with a message logged, if the socket is somebody else's, what is there is no socket, or its
 * directory lets others than root and `access->uid` replace files. */
int control_socket_listen(const char *path, const struct control_access *access, const char *what);

/* Whether the peer of a connection has the permission that the mode of the socket gives.  `*uid` is its user. */
bool control_socket_may(int fd, const struct control_access *access, uid_t *uid);

#endif
