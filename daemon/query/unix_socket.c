/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"

#define BACKLOG	   64
#define GROUPS_MAX 128

/* ---------------------------------------------------------------------------------------------------- the directory */

static void
unix_socket_directory(const char *path, char *directory, size_t size)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		snprintf(directory, size, ".");
	else
		snprintf(directory, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* Opens and examines the directory of a socket.  -1, with a message logged, on failure. */
static int
unix_socket_open_directory(const char *path, const char *directory, uid_t uid, struct stat *status, const char *what)
{
	char error[TRUSTED_PATH_ERROR_MAX];
	int fd = trusted_path_open(directory, O_PATH | O_DIRECTORY, uid, error);

	if (fd >= 0 && fstat(fd, status) == 0)
		return fd;
	if (fd >= 0)
		snprintf(error, sizeof error, "%s", strerror(errno));
	if (*error == '/') /* it names the directory at fault */
		log_error("cannot create the %s socket %s: %s", what, path, error);
	else
		log_error("cannot create the %s socket %s: %s: %s", what, path, directory, error);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Checks the owners and modes of the socket's directory and of those above: write permission to one of them is enough
 * to replace the socket. */
static bool
unix_socket_check_directory(const char *path, uid_t uid, const char *what)
{
	char directory[PATH_MAX];
	struct stat status;
	int fd;

	unix_socket_directory(path, directory, sizeof directory);
	fd = unix_socket_open_directory(path, directory, uid, &status, what);
	if (fd < 0)
		return false;
	close(fd);
	if (status.st_uid != 0 && status.st_uid != uid && status.st_uid != geteuid()) {
		log_error("cannot create the %s socket %s: %s belongs to user %lu; it must belong to root or user "
			  "%lu",
			  what, path, directory, (unsigned long)status.st_uid, (unsigned long)uid);
		return false;
	}
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0) {
		log_error("cannot create the %s socket %s: %s is writable by group or others (mode %04o); use another "
			  "directory, or chmod go-w",
			  what, path, directory, (unsigned)status.st_mode & 07777u);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------- the socket */

static bool
unix_socket_make_address(const char *path, struct sockaddr_un *address, const char *what)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (*path != '\0' && strlen(path) < sizeof address->sun_path) {
		memcpy(address->sun_path, path, strlen(path) + 1);
		return true;
	}
	log_error("the path of the %s socket has %zu bytes; it must have 1 to %zu", what, strlen(path),
		  sizeof address->sun_path - 1);
	return false;
}

/* Logs that a socket of another user is in the way; `status` is that of the socket. */
static void
unix_socket_log_foreign(const char *path, const struct stat *status, const char *what)
{
	log_error("cannot create the %s socket %s: the path exists, belongs to user %lu (mode %04o), and user %lu may "
		  "not replace it; remove it as root, or use another path",
		  what, path, (unsigned long)status->st_uid, (unsigned)status->st_mode & 07777u,
		  (unsigned long)geteuid());
}

/* Result of connect(): 0 or an error number. */
static int
unix_socket_try_connect(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

/* Removes a socket that refuses connections: it was left behind by a dead process. */
static bool
unix_socket_remove_stale(const char *path, const struct sockaddr_un *address, const char *what)
{
	struct stat status = {0};
	int error;

	if (lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode)) {
		log_error("cannot create the %s socket %s: the path exists and is not a socket", what, path);
		return false;
	}
	error = unix_socket_try_connect(address);
	if (error == ENOENT || (error == ECONNREFUSED && (unlink(path) == 0 || errno == ENOENT)))
		return true;
	if (error == ECONNREFUSED)
		error = errno;
	if (error == EACCES || error == EPERM)
		unix_socket_log_foreign(path, &status, what);
	else if (error == 0 || error == EAGAIN)
		log_error("the %s socket %s is in use by another process", what, path);
	else
		log_error("cannot replace the %s socket %s: %s%s", what, path, strerror(error),
			  unit_clause_of_path(path, error));
	return false;
}

/* The socket accepts no connections before its owner and mode are set. */
static bool
unix_socket_bind_private(int fd, const struct sockaddr_un *address)
{
	mode_t before = umask(0777);
	int result = bind(fd, (const struct sockaddr *)address, sizeof *address);
	int error = errno;

	umask(before);
	errno = error;
	return result == 0;
}

static bool
unix_socket_set_access(const char *path, const struct unix_socket_access *access, const char *what)
{
	/* A service manager may forbid chown(), which is rarely needed.  The owner of the directory may have put a link
	 * there. */
	bool ours = access->uid == geteuid() && access->gid == getegid();

	if ((ours || lchown(path, access->uid, access->gid) == 0) &&
	    fchmodat(AT_FDCWD, path, access->mode, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	log_error("cannot set owner and mode of the %s socket %s (user %lu, group %lu): %s%s", what, path,
		  (unsigned long)access->uid, (unsigned long)access->gid, strerror(errno),
		  unit_clause("User=, Group= and SystemCallFilter= of the unit may forbid another owner"));
	unlink(path);
	return false;
}

int
unix_socket_listen(const char *path, const struct unix_socket_access *access, const char *what)
{
	struct sockaddr_un address;
	bool bound;
	int fd;

	if (!unix_socket_make_address(path, &address, what) || !unix_socket_check_directory(path, access->uid, what))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		log_error("cannot create the %s socket %s: %s", what, path, strerror(errno));
		return -1;
	}
	bound = unix_socket_bind_private(fd, &address);
	if (!bound && errno == EADDRINUSE) {
		if (!unix_socket_remove_stale(path, &address, what)) {
			close(fd);
			return -1;
		}
		bound = unix_socket_bind_private(fd, &address);
	}
	if (!bound && errno == EACCES)
		log_error("cannot create the %s socket %s: user %lu has no write permission for its directory; run as "
			  "root, or use another path",
			  what, path, (unsigned long)geteuid());
	else if (!bound || listen(fd, BACKLOG) < 0)
		log_error("cannot create the %s socket %s: %s%s", what, path, strerror(errno),
			  unit_clause_of_path(path, errno));
	else if (unix_socket_set_access(path, access, what))
		return fd;
	close(fd);
	return -1;
}

/* --------------------------------------------------------------------------------------------------------- the peer */

static bool
unix_socket_peer_in_group(int fd, gid_t wanted)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof groups;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (size_t i = 0; i < size / sizeof groups[0]; i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

bool
unix_socket_check_peer(int fd, const struct unix_socket_access *access, uid_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	*uid = peer.uid;
	if (peer.uid == 0 || peer.uid == access->uid || (access->mode & S_IWOTH) != 0)
		return true;
	return (access->mode & S_IWGRP) != 0 && (peer.gid == access->gid || unix_socket_peer_in_group(fd, access->gid));
}
