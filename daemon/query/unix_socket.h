/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates a listening Unix socket at a path, safe against other users. */
#ifndef NETOBS_DAEMON_QUERY_UNIX_SOCKET_H
#define NETOBS_DAEMON_QUERY_UNIX_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

struct unix_socket_access {
	uid_t uid;   /* owner of the socket */
	gid_t gid;   /* its group */
	mode_t mode; /* mode of the socket: write permission allows to connect */
};

/* Listens at `path`, nonblocking.  A stale socket there, without a listener, is replaced.  `what` is the name for
 * messages ("control").  -1, with a message logged, if the socket belongs to another user, if the path is not a socket,
 * or if users other than root and `access->uid` can replace files in its directory. */
int unix_socket_listen(const char *path, const struct unix_socket_access *access, const char *what);

/* Whether the peer of a connection has the permission that the socket's mode grants.  Sets `*uid` to the peer's
 * user. */
bool unix_socket_check_peer(int fd, const struct unix_socket_access *access, uid_t *uid);

#endif
