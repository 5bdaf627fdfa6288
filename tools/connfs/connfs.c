/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-connfs: the connections of a running netobsd as a file system (connfs_tree.h). */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/path.h"
#include "tools/connfs/connfs_files.h"
#include "tools/connfs/connfs_list.h"
#include "tools/connfs/connfs_operations.h"
#include "tools/control_client.h"

#define DEFAULT_SOCKET "/run/netobs/control"

/* Most files of packets that are being opened: each waits for netobsd, up to two minutes if it does not reply. */
#define CONNFS_OPENINGS_MAX 4u

/* The type of its mounts is "fuse." and this. */
#define CONNFS_SUBTYPE "netobs-connfs"

/* ---------------------------------------------------------------------------------------------------------- threads */

static void
connfs_lookup_locked(fuse_req_t request, fuse_ino_t inode, const char *name)
{
	pthread_mutex_lock(&connfs_lock);
	connfs_lookup(request, inode, name);
	pthread_mutex_unlock(&connfs_lock);
}

static void
connfs_getattr_locked(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	pthread_mutex_lock(&connfs_lock);
	connfs_getattr(request, inode, file);
	pthread_mutex_unlock(&connfs_lock);
}

static void
connfs_opendir_locked(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	pthread_mutex_lock(&connfs_lock);
	connfs_opendir(request, inode, file);
	pthread_mutex_unlock(&connfs_lock);
}

/* A request to open a file of packets, with a thread of its own. */
struct connfs_opening {
	fuse_req_t request;
	fuse_ino_t inode;
	struct fuse_file_info file;
};

static unsigned connfs_openings;

static void *
connfs_run_opening(void *argument)
{
	struct connfs_opening *opening = argument;

	pthread_mutex_lock(&connfs_lock);
	connfs_open(opening->request, opening->inode, &opening->file);
	connfs_openings--;
	pthread_mutex_unlock(&connfs_lock);
	free(opening);
	return NULL;
}

/* Opens a file of packets in another thread; an error number, or 0. */
static int
connfs_begin_opening(fuse_req_t request, fuse_ino_t inode, const struct fuse_file_info *file)
{
	struct connfs_opening *opening;
	pthread_t thread;

	if (connfs_openings == CONNFS_OPENINGS_MAX)
		return EBUSY;
	opening = malloc(sizeof *opening);
	if (opening == NULL)
		return ENOMEM;
	*opening = (struct connfs_opening){request, inode, *file};
	if (pthread_create(&thread, NULL, connfs_run_opening, opening) != 0) {
		free(opening);
		return EAGAIN;
	}
	pthread_detach(thread);
	connfs_openings++;
	return 0;
}

static void
connfs_open_locked(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	struct connfs_node node;
	int error;

	pthread_mutex_lock(&connfs_lock);
	if (connfs_node(inode, &node) && node.kind == CONNFS_FILE &&
	    (node.number == CONNFS_HISTORY || node.number == CONNFS_CAPTURE)) {
		error = connfs_begin_opening(request, inode, file);
		if (error != 0)
			fuse_reply_err(request, error);
	} else {
		connfs_open(request, inode, file);
	}
	pthread_mutex_unlock(&connfs_lock);
}

/* A file is closed when the thread that replied with its bytes does not use them any more. */
static void
connfs_release_locked(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	pthread_mutex_lock(&connfs_lock);
	connfs_release(request, inode, file);
	pthread_mutex_unlock(&connfs_lock);
}

static const struct fuse_lowlevel_ops connfs_operations = {
    .lookup = connfs_lookup_locked,
    .getattr = connfs_getattr_locked,
    .readlink = connfs_readlink,
    .opendir = connfs_opendir_locked,
    .readdir = connfs_read,
    .releasedir = connfs_release_locked,
    .open = connfs_open_locked,
    .read = connfs_read,
    .release = connfs_release_locked,
};

/* ----------------------------------------------------------------------------------------------------- command line */

static void
connfs_print_help(void)
{
	puts("Usage: netobs-connfs [-f] [-s SOCKET] [-o OPTION,...] MOUNTPOINT\n"
	     "Mount the connections that a running netobsd tracks: a directory for each, and\n"
	     "links by-pid, by-port, by-state and by-host; closed has records of the ended\n"
	     "ones, if netobsd keeps them.\n"
	     "\n"
	     "  -s SOCKET               control socket of netobsd (" DEFAULT_SOCKET ")\n"
	     "  -f                      stay in the foreground\n"
	     "  -o OPTION,...           options of FUSE: allow_other, ...\n"
	     "  -h, --help              print this help\n"
	     "  -V, --version           print the version\n"
	     "\n"
	     "fusermount3 -u MOUNTPOINT ends it.");
}

struct connfs_arguments {
	char *socket;
	const char *mountpoint; /* as given, FUSE resolves its own */
};

static const struct fuse_opt connfs_options[] = {
    {"-s %s", offsetof(struct connfs_arguments, socket), 0},
    FUSE_OPT_END,
};

/* Takes note of the mount point, and leaves all to FUSE. */
static int
connfs_see_argument(void *data, const char *argument, int key, struct fuse_args *rest)
{
	struct connfs_arguments *own = data;

	(void)rest;
	if (key == FUSE_OPT_KEY_NONOPT && own->mountpoint == NULL)
		own->mountpoint = argument;
	return 1;
}

/* Whether a netobs-connfs is mounted on a directory. */
static bool
connfs_is_mounted(const char *directory)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	bool found = false;

	while (mounts != NULL && !found && (mount = getmntent(mounts)) != NULL)
		found = strcmp(mount->mnt_dir, directory) == 0 && strcmp(mount->mnt_type, "fuse." CONNFS_SUBTYPE) == 0;
	if (mounts != NULL)
		endmntent(mounts);
	return found;
}

/* Checks a mount point, and finds its path without links.  False, with the reason in connfs_error, if another user can
 * have prepared a link on it, if it is a file, or if another netobs-connfs is mounted on it, which would be hidden. */
static bool
connfs_check_mountpoint(const char *mountpoint, char directory[PATH_MAX])
{
	char reason[OUTPUT_PATH_ERROR_MAX];
	const char *mistake = NULL;
	struct stat attributes;

	if (!output_path_resolve(mountpoint, directory, reason))
		mistake = reason;
	else if (connfs_is_mounted(directory))
		mistake = "a netobs-connfs is mounted there already; fusermount3 -u ends it";
	else if (stat(directory, &attributes) == 0 && !S_ISDIR(attributes.st_mode))
		mistake = strerror(ENOTDIR);
	else if (geteuid() == 0 && !output_path_is_firm(directory)) /* FUSE mounts by the path */
		mistake = "another user can exchange a directory of this path";
	if (mistake != NULL)
		snprintf(connfs_error, sizeof connfs_error, "%s: %.1024s", mountpoint, mistake);
	return mistake == NULL;
}

/* Checks before the program is in the background that netobsd replies, and that the mount point and the socket can be
 * used.  Finds the path of the mount point without links.  False, with the reason in connfs_error. */
static bool
connfs_check(const char *mountpoint, char directory[PATH_MAX])
{
	char *socket;

	if (!connfs_check_mountpoint(mountpoint, directory) || !connfs_receive_list(true))
		return false;
	/* In the background the current directory is another one. */
	socket = realpath(connfs_socket, NULL);
	if (socket == NULL)
		snprintf(connfs_error, sizeof connfs_error, "%s: %s", connfs_socket, strerror(errno));
	else
		connfs_socket = socket;
	return socket != NULL;
}

/* Mounts, and serves requests until the end. */
static int
connfs_serve(struct fuse_session *session, const char *mountpoint, bool foreground)
{
	char directory[PATH_MAX];
	int status = EXIT_FAILURE;

	if (!connfs_check(mountpoint, directory)) {
		client_log("netobs-connfs", "%s", connfs_error);
		return EXIT_FAILURE;
	}
	if (fuse_set_signal_handlers(session) != 0)
		return EXIT_FAILURE;
	if (fuse_session_mount(session, directory) == 0) {
		if (fuse_daemonize(foreground) == 0)
			status = fuse_session_loop(session) >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
		fuse_session_unmount(session);
	}
	fuse_remove_signal_handlers(session);
	return status;
}

/* Checks the options of FUSE, before netobsd is asked for. */
static int
connfs_begin(struct fuse_args *arguments, const char *mountpoint, bool foreground)
{
	struct fuse_session *session = fuse_session_new(arguments, &connfs_operations, sizeof connfs_operations, NULL);
	int status = EXIT_FAILURE;

	if (session == NULL)
		return EXIT_FAILURE; /* FUSE has printed a message */
	status = connfs_serve(session, mountpoint, foreground);
	pthread_mutex_lock(&connfs_lock);
	if (connfs_openings == 0) /* the threads use the session until the program ends */
		fuse_session_destroy(session);
	pthread_mutex_unlock(&connfs_lock);
	return status;
}

int
main(int argc, char **argv)
{
	struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
	struct connfs_arguments own = {.socket = NULL};
	struct fuse_cmdline_opts options;
	int status = EXIT_SUCCESS;

	if (fuse_opt_parse(&arguments, &own, connfs_options, connfs_see_argument) != 0 ||
	    fuse_opt_add_arg(&arguments, "-oro,default_permissions,subtype=" CONNFS_SUBTYPE) != 0 ||
	    fuse_parse_cmdline(&arguments, &options) != 0)
		return EXIT_FAILURE;
	if (!connfs_list_begin(own.socket != NULL ? own.socket : DEFAULT_SOCKET))
		return EXIT_FAILURE;
	if (options.show_help || options.show_version)
		closed_output_end_quietly();
	if (options.show_help) {
		connfs_print_help();
	} else if (options.show_version) {
		puts("netobs-connfs " PACKAGE_VERSION);
	} else if (own.mountpoint == NULL) {
		fprintf(stderr,
			"netobs-connfs: name the directory to mount on; netobs-connfs --help lists the options\n");
		status = EXIT_FAILURE;
	} else {
		status = connfs_begin(&arguments, own.mountpoint, options.foreground != 0);
	}
	free(options.mountpoint);
	fuse_opt_free_args(&arguments);
	return status;
}
