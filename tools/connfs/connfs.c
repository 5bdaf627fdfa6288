/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-connfs: the connections of a running netobsd as a file system (connfs_tree.h). */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "base/path.h"
#include "tools/connfs/connfs_list.h"
#include "tools/connfs/connfs_open.h"
#include "tools/connfs/connfs_tree.h"
#include "tools/control_client.h"

/* ------------------------------------------------------------------------------------------------------- attributes */

/* Whether a node shows packets or processes.  Its mode excludes other users, also with allow_other. */
static bool
connfs_is_private(const struct connfs_node *node)
{
	if (node->kind == CONNFS_FILE)
		return connfs_file_has_owner(node->number) || node->number == CONNFS_HISTORY ||
		       node->number == CONNFS_CAPTURE;
	return node->kind == CONNFS_RECORD || (node->kind == CONNFS_GROUP && node->number == CONNFS_BY_PID);
}

/* Fills what does not depend on the connection. */
static void
connfs_stat_kind(const struct connfs_node *node, struct stat *attributes)
{
	mode_t type = connfs_type(node->kind);

	memset(attributes, 0, sizeof *attributes);
	attributes->st_ino = connfs_inode(node);
	attributes->st_mode = type | (type == S_IFDIR ? 0555 : type == S_IFLNK ? 0777 : 0444);
	if (connfs_is_private(node))
		attributes->st_mode &= ~(mode_t)(S_IRWXG | S_IRWXO);
	attributes->st_nlink = type == S_IFDIR ? 2 : 1;
	attributes->st_uid = getuid();
	attributes->st_gid = getgid();
}

static void
connfs_set_times(struct stat *attributes, uint64_t time_ns)
{
	attributes->st_mtim.tv_sec = (time_t)(time_ns / 1000000000);
	attributes->st_mtim.tv_nsec = (long)(time_ns % 1000000000);
	attributes->st_atim = attributes->st_ctim = attributes->st_mtim;
}

/* Fills the attributes; an error number, or 0.  The list is fresh. */
static int
connfs_stat(const struct connfs_node *node, struct stat *attributes)
{
	const struct connfs_closed_end *end;
	const struct connection_row *row = NULL;
	char text[CONNFS_TEXT_MAX];
	struct timespec now;

	connfs_stat_kind(node, attributes);
	clock_gettime(CLOCK_REALTIME, &now);
	connfs_set_times(attributes, (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
	if (node->kind == CONNFS_RECORD) {
		end = connfs_closed_find(&connfs_closed, node->cid);
		if (end == NULL)
			return ENOENT;
		connfs_set_times(attributes, end->time_ns);
	} else if (node->cid != 0) {
		row = connfs_find(node->cid);
		if (row == NULL)
			return ENOENT;
		connfs_set_times(attributes, row->values[CONNFS_START].number);
	}
	if (node->kind == CONNFS_FILE)
		attributes->st_size = (off_t)connfs_file_text(node->number, row->values, text);
	else if (node->kind == CONNFS_LINK)
		attributes->st_size = snprintf(NULL, 0, "../../%llu", (unsigned long long)node->cid);
	return 0;
}

/* The attributes of a node; `file` is NULL unless it is open. */
static void
connfs_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	const struct connfs_handle *handle = file != NULL ? (const struct connfs_handle *)(uintptr_t)file->fh : NULL;
	struct connfs_node node;
	struct stat attributes;
	int error = ENOENT;

	if (!connfs_node(inode, &node))
		error = ENOENT;
	else if (node.kind != CONNFS_ROOT && node.kind != CONNFS_CLOSED &&
		 !connfs_refresh_for(node.kind, CONNFS_FRESH_S))
		error = connfs_refresh_error(node.kind);
	else
		error = connfs_stat(&node, &attributes);
	if (error != 0) {
		fuse_reply_err(request, error);
		return;
	}
	if (handle != NULL && handle->cached)
		attributes.st_size = (off_t)handle->length;
	connfs_note_size(&attributes);
	fuse_reply_attr(request, &attributes, CONNFS_FRESH_S);
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Age of a list, seconds, from which on another one is requested for a name that is not in it. */
#define CONNFS_RETRY_S 0.1

/* Parses a connection id with a suffix; 0 if a name is not an id. */
static uint64_t
connfs_parse_cid(const char *name, const char *suffix)
{
	size_t digits = strspn(name, "0123456789");

	return digits > 0 && digits < 16 && strcmp(name + digits, suffix) == 0 && name[0] != '0'
		   ? strtoull(name, NULL, 10)
		   : 0;
}

/* Finds the name "closed"; an error number, or 0. */
static int
connfs_lookup_closed(struct connfs_node *node)
{
	struct connfs_kept kept;

	node->kind = CONNFS_CLOSED;
	if (!connfs_request_kept(&kept))
		return EIO;
	return kept.closed ? 0 : ENOENT;
}

static int
connfs_lookup_root(const char *name, struct connfs_node *node)
{
	node->cid = connfs_parse_cid(name, "");
	node->kind = CONNFS_CONNECTION;
	if (node->cid != 0)
		return 0;
	if (strcmp(name, "closed") == 0)
		return connfs_lookup_closed(node);
	node->kind = CONNFS_GROUP;
	for (unsigned i = 0; i < CONNFS_GROUPS; i++)
		if (strcmp(connfs_group_name(i), name) == 0) {
			node->number = i;
			return 0;
		}
	return ENOENT;
}

static int
connfs_lookup_value(uint32_t value, const char *name, struct connfs_node *node)
{
	enum connfs_group group;
	const char *text = connfs_value_text(value, &group);
	const struct connection_row *row;

	node->kind = CONNFS_LINK;
	node->cid = connfs_parse_cid(name, "");
	row = node->cid != 0 ? connfs_find(node->cid) : NULL;
	return text != NULL && row != NULL && connfs_has_value(row, group, text) ? 0 : ENOENT;
}

static int
connfs_lookup_file(uint64_t cid, const char *name, struct connfs_node *node)
{
	node->kind = CONNFS_FILE;
	node->cid = cid;
	for (node->number = 0; node->number < CONNFS_FILES; node->number++)
		if (strcmp(connfs_file_name(node->number), name) == 0)
			return 0;
	return ENOENT;
}

/* Finds a name in a directory; an error number, or 0. */
static int
connfs_find_name(const struct connfs_node *parent, const char *name, struct connfs_node *node)
{
	*node = (struct connfs_node){.kind = CONNFS_ROOT};
	switch (parent->kind) {
	case CONNFS_ROOT:
		return connfs_lookup_root(name, node);
	case CONNFS_GROUP:
		node->kind = CONNFS_VALUE;
		return connfs_value_number(parent->number, name, connfs_index(), &node->value) ? 0 : ENOENT;
	case CONNFS_VALUE:
		return connfs_lookup_value(parent->value, name, node);
	case CONNFS_CONNECTION:
		return connfs_lookup_file(parent->cid, name, node);
	case CONNFS_CLOSED:
		node->kind = CONNFS_RECORD;
		node->cid = connfs_parse_cid(name, ".json");
		return node->cid != 0 ? 0 : ENOENT;
	case CONNFS_LINK:
	case CONNFS_FILE:
	case CONNFS_RECORD:
	case CONNFS_KINDS:
		break;
	}
	return ENOENT;
}

/* Finds a name and its attributes in a list that is at most `age` seconds old; an error number, or 0. */
static int
connfs_lookup_in(const struct connfs_node *parent, const char *name, double age, struct connfs_node *node,
		 struct stat *attributes)
{
	int error;

	if (!connfs_refresh_for(parent->kind, age))
		return connfs_refresh_error(parent->kind);
	error = connfs_find_name(parent, name, node);
	return error == 0 ? connfs_stat(node, attributes) : error;
}

/* Whether netobsd tracks a connection that is not in the list: a small request. */
static bool
connfs_is_tracked(uint64_t cid)
{
	struct connection_list list;
	bool found;

	if (!connfs_request_one(cid, true, &list))
		return false;
	found = list.count > 0 && list.rows[0].cid == cid;
	connection_list_clear(&list);
	return found;
}

/* Whether a name that is not in the list may be in a newer one, which is at most `*age` seconds old: a connection may
 * be newer than the list. */
static bool
connfs_may_be_newer(const struct connfs_node *parent, const char *name, double *age)
{
	struct connfs_node file;
	uint64_t cid = parent->kind == CONNFS_ROOT ? connfs_parse_cid(name, "") : parent->cid;

	*age = 0;
	if (parent->kind == CONNFS_ROOT ||
	    (parent->kind == CONNFS_CONNECTION && connfs_lookup_file(cid, name, &file) == 0))
		return cid != 0 && connfs_is_tracked(cid);
	*age = CONNFS_RETRY_S;
	return parent->kind == CONNFS_GROUP || parent->kind == CONNFS_VALUE ||
	       (parent->kind == CONNFS_CLOSED && connfs_parse_cid(name, ".json") != 0);
}

/* Finds a name in a directory. */
static void
connfs_lookup(fuse_req_t request, fuse_ino_t inode, const char *name)
{
	struct fuse_entry_param entry = {.attr_timeout = CONNFS_FRESH_S, .entry_timeout = CONNFS_FRESH_S};
	struct connfs_node parent, node;
	int error = ENOENT;
	double age;

	if (connfs_node(inode, &parent)) {
		error = connfs_lookup_in(&parent, name, CONNFS_FRESH_S, &node, &entry.attr);
		if (error == ENOENT && connfs_may_be_newer(&parent, name, &age))
			error = connfs_lookup_in(&parent, name, age, &node, &entry.attr);
	}
	entry.ino = error == 0 ? entry.attr.st_ino : 0;
	if (error == ENOENT) {
		fuse_reply_entry(request, &entry); /* the kernel keeps that there is no such name */
		return;
	}
	if (error != 0) {
		fuse_reply_err(request, error);
		return;
	}
	connfs_note_size(&entry.attr);
	fuse_reply_entry(request, &entry);
}

/* The target of a link. */
static void
connfs_readlink(fuse_req_t request, fuse_ino_t inode)
{
	struct connfs_node node;
	char target[64];

	if (!connfs_node(inode, &node) || node.kind != CONNFS_LINK) {
		fuse_reply_err(request, EINVAL);
		return;
	}
	snprintf(target, sizeof target, "../../%llu", (unsigned long long)node.cid);
	fuse_reply_readlink(request, target);
}

/* ------------------------------------------------------------------------------------------------------ directories */

static void
connfs_add_entry(fuse_req_t request, struct connfs_handle *handle, const char *name, const struct connfs_node *node)
{
	size_t size = fuse_add_direntry(request, NULL, 0, name, NULL, 0);
	struct stat attributes = {.st_ino = connfs_inode(node), .st_mode = connfs_type(node->kind)};

	if (handle->length + size > handle->room) {
		size_t room = handle->room * 2 + 65536;
		char *larger = realloc(handle->bytes, room);

		handle->failed |= larger == NULL;
		if (larger == NULL)
			return;
		handle->bytes = larger;
		handle->room = room;
	}
	fuse_add_direntry(request, handle->bytes + handle->length, size, name, &attributes,
			  (off_t)(handle->length + size));
	handle->length += size;
}

/* Adds a connection, or a link to one. */
static void
connfs_add_cid(fuse_req_t request, struct connfs_handle *handle, enum connfs_kind kind, uint64_t cid)
{
	char name[24];

	snprintf(name, sizeof name, "%llu", (unsigned long long)cid);
	connfs_add_entry(request, handle, name, &(struct connfs_node){.kind = kind, .cid = cid});
}

static void
connfs_add_root(fuse_req_t request, struct connfs_handle *handle)
{
	struct connfs_kept kept = {.closed = false};

	for (unsigned i = 0; i < CONNFS_GROUPS; i++)
		connfs_add_entry(request, handle, connfs_group_name(i),
				 &(struct connfs_node){.kind = CONNFS_GROUP, .number = i});
	if (connfs_request_kept(&kept) && kept.closed)
		connfs_add_entry(request, handle, "closed", &(struct connfs_node){.kind = CONNFS_CLOSED});
	for (size_t i = 0; i < connfs_list.count; i++)
		connfs_add_cid(request, handle, CONNFS_CONNECTION, connfs_list.rows[i].cid);
}

static void
connfs_add_values(fuse_req_t request, struct connfs_handle *handle, enum connfs_group group)
{
	uint64_t seen = connection_list_now(); /* each value is listed once */
	struct connfs_node node = {.kind = CONNFS_VALUE};
	char found[2][CONNFS_VALUE_SIZE];

	connfs_values_trim();
	for (size_t i = 0; i < connfs_list.count; i++) {
		unsigned count = connfs_group_values(group, connfs_list.rows[i].values, found);

		while (count-- > 0)
			if (connfs_value_mark(group, found[count], seen) &&
			    connfs_value_number(group, found[count], seen, &node.value))
				connfs_add_entry(request, handle, found[count], &node);
	}
	connfs_index_end();
}

static void
connfs_add_links(fuse_req_t request, struct connfs_handle *handle, uint32_t value)
{
	enum connfs_group group;
	const char *text = connfs_value_text(value, &group);

	for (size_t i = 0; text != NULL && i < connfs_list.count; i++)
		if (connfs_has_value(&connfs_list.rows[i], group, text))
			connfs_add_cid(request, handle, CONNFS_LINK, connfs_list.rows[i].cid);
}

static void
connfs_add_files(fuse_req_t request, struct connfs_handle *handle, uint64_t cid)
{
	for (unsigned i = 0; i < CONNFS_FILES; i++)
		connfs_add_entry(request, handle, connfs_file_name(i),
				 &(struct connfs_node){.kind = CONNFS_FILE, .number = i, .cid = cid});
}

static void
connfs_add_records(fuse_req_t request, struct connfs_handle *handle)
{
	char name[32];

	for (size_t i = 0; i < connfs_closed.count; i++) {
		const struct connfs_closed_end *end = &connfs_closed.ends[i];

		snprintf(name, sizeof name, "%llu.json", (unsigned long long)end->cid);
		if (end->client)
			connfs_add_entry(request, handle, name,
					 &(struct connfs_node){.kind = CONNFS_RECORD, .cid = end->cid});
	}
}

static void
connfs_add_entries(fuse_req_t request, struct connfs_handle *handle, const struct connfs_node *node)
{
	connfs_add_entry(request, handle, ".", node);
	connfs_add_entry(request, handle, "..", &(struct connfs_node){.kind = CONNFS_ROOT});
	if (node->kind == CONNFS_ROOT)
		connfs_add_root(request, handle);
	else if (node->kind == CONNFS_GROUP)
		connfs_add_values(request, handle, node->number);
	else if (node->kind == CONNFS_VALUE)
		connfs_add_links(request, handle, node->value);
	else if (node->kind == CONNFS_CLOSED)
		connfs_add_records(request, handle);
	else
		connfs_add_files(request, handle, node->cid);
}

/* Opens a directory: its entries are those of this moment. */
static void
connfs_opendir(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	struct connfs_handle *handle = calloc(1, sizeof *handle);
	struct connfs_node node;

	if (handle == NULL || !connfs_node(inode, &node)) {
		free(handle);
		fuse_reply_err(request, handle == NULL ? ENOMEM : ENOENT);
		return;
	}
	handle->fd = -1;
	if (node.kind != CONNFS_CONNECTION && !connfs_refresh_for(node.kind, 0)) {
		connfs_close(handle);
		fuse_reply_err(request, connfs_refresh_error(node.kind));
		return;
	}
	connfs_add_entries(request, handle, &node);
	file->fh = (uint64_t)(uintptr_t)handle;
	if (handle->failed) {
		connfs_close(handle);
		fuse_reply_err(request, ENOMEM);
	} else if (fuse_reply_open(request, file) != 0) {
		connfs_close(handle);
	}
}

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
