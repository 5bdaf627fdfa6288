/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-connfs: the connections of a running netobsd as a file system (connfs_tree.h). */
#define FUSE_USE_VERSION 314

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <mntent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/connections/connection_list.h"
#include "tools/connfs/connfs_closed.h"
#include "tools/connfs/connfs_files.h"
#include "tools/connfs/connfs_kept.h"
#include "tools/connfs/connfs_tree.h"
#include "tools/replay/history.h"
#include "tools/write_client.h"

#define DEFAULT_SOCKET "/run/netobs/control"

/* The type of its mounts is "fuse." and this. */
#define CONNFS_SUBTYPE "netobs-connfs"

/* Seconds that the kernel keeps names and attributes, and that a list serves lookups. */
#define CONNFS_FRESH_S 1.0

/* Age of a list, seconds, from which on another one is requested for a name that is not in it. */
#define CONNFS_RETRY_S 0.1

/* Files that are opened in a row, with at most CONNFS_ROW_GAP_NS from the end of one open to the beginning of the next:
 * from the CONNFS_ROW_LENGTH-th on they show the values of one list, which is at most CONNFS_ROW_FRESH_S seconds old.
 * A list that takes longer than half of that to arrive is not used. */
#define CONNFS_ROW_GAP_NS  UINT64_C(50000000)
#define CONNFS_ROW_LENGTH  8u
#define CONNFS_ROW_FRESH_S 0.5

/* Held by the thread that serves a request, except while packets are received or replayed, which takes long. */
static pthread_mutex_t connfs_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *connfs_socket = DEFAULT_SOCKET;
static char connfs_fields[] = CONNFS_FIELDS;
static struct connection_columns connfs_columns;
static struct connection_list connfs_list; /* sorted by connection id; `time_ns` is 0 until there is one */
static struct connfs_closed_list connfs_closed;
static char connfs_error[4096];
static uint64_t connfs_indexed; /* `time_ns` of the list whose values are marked */
static uint64_t connfs_list_took_ns;
static struct {
	unsigned length;
	uint64_t time_ns; /* end of the last open */
} connfs_row;

/* An open directory or file: its bytes, or the capture that they are read from. */
struct connfs_handle {
	char *bytes;
	size_t length, room;
	int fd; /* a capture; otherwise -1 */
	bool failed;
	bool cached; /* the kernel reads it through its page cache */
};

/* --------------------------------------------------------------------------------------------------------- the list */

/* Drops rows whose connection id is no name of a directory, or that of the row before; the list is sorted. */
static void
connfs_drop_rows(struct connection_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		uint64_t cid = list->rows[i].cid;

		if (cid != 0 && cid <= CONNFS_CID_MAX && (kept == 0 || list->rows[kept - 1].cid != cid))
			list->rows[kept++] = list->rows[i];
	}
	list->count = kept;
}

/* Requests the list, without waiting for processes that are looked up unless `wait` is set.  False, with the reason in
 * connfs_error and an empty list, if netobsd does not reply. */
static bool
connfs_receive_list(bool wait)
{
	struct connection_request request = {.path = connfs_socket, .no_wait = !wait};

	connection_list_clear(&connfs_list);
	if (!connection_list_receive(&connfs_list, &connfs_columns, &request, connfs_error, sizeof connfs_error))
		return false;
	connection_list_sort_by_cid(&connfs_list);
	connfs_drop_rows(&connfs_list);
	connfs_list_took_ns = connection_list_now() - connfs_list.time_ns;
	return true;
}

/* Requests the list unless it is at most `most_age` seconds old; false like connfs_receive_list(). */
static bool
connfs_refresh(double most_age)
{
	if (connfs_list.time_ns != 0 && (double)(connection_list_now() - connfs_list.time_ns) <= most_age * 1e9)
		return true;
	return connfs_receive_list(false);
}

/* Requests one connection; false if netobsd does not reply. */
static bool
connfs_request_one(uint64_t cid, bool no_wait, struct connection_list *list)
{
	char condition[40], *const words[] = {condition}, error[4096];
	struct connection_request request = {.path = connfs_socket, .words = words, .count = 1, .no_wait = no_wait};

	snprintf(condition, sizeof condition, "cid=%llu", (unsigned long long)cid);
	return connection_list_receive(list, &connfs_columns, &request, error, sizeof error);
}

/* Requests the list that has the names in a directory, or a node of this kind. */
static bool
connfs_refresh_for(enum connfs_kind kind, double most_age)
{
	if (kind == CONNFS_CLOSED || kind == CONNFS_RECORD)
		return connfs_closed_refresh(&connfs_closed, connfs_socket, (uint64_t)(most_age * 1e9));
	return connfs_refresh(most_age);
}

/* The error number after connfs_refresh_for() has failed. */
static int
connfs_refresh_error(enum connfs_kind kind)
{
	struct connfs_kept kept;

	if ((kind != CONNFS_CLOSED && kind != CONNFS_RECORD) || !connfs_kept_request(connfs_socket, &kept))
		return EIO;
	return kept.closed ? EBUSY : ENOENT;
}

static const struct connection_row *
connfs_find(uint64_t cid)
{
	return connection_list_find(&connfs_list, cid);
}

/* Marks the values of the list. */
static void
connfs_index(void)
{
	const char *found[2];

	if (connfs_indexed == connfs_list.time_ns)
		return;
	connfs_indexed = connfs_list.time_ns;
	connfs_values_trim();
	for (size_t i = 0; i < connfs_list.count; i++)
		for (unsigned group = 0; group < CONNFS_GROUPS; group++) {
			unsigned count = connfs_group_values(group, connfs_list.rows[i].values, found);

			while (count-- > 0)
				connfs_value_mark(group, found[count], connfs_indexed);
		}
}

/* Whether a connection has a value. */
static bool
connfs_has_value(const struct connection_row *row, enum connfs_group group, const char *text)
{
	const char *found[2];
	unsigned count = connfs_group_values(group, row->values, found);

	while (count-- > 0)
		if (strcmp(found[count], text) == 0)
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ sizes */

/*
 * The size that the kernel was last told of a text, by a hash of the inode number.  If a text has this size when it is
 * opened, the kernel may read it through its page cache: it then needs one request instead of two, and does not pin the
 * whole buffer of the reader.
 */
#define CONNFS_SIZE_BITS 16

static struct connfs_size {
	uint64_t inode; /* 0: none */
	size_t size;
} connfs_sizes[1u << CONNFS_SIZE_BITS];

static struct connfs_size *
connfs_size_of(uint64_t inode)
{
	return &connfs_sizes[inode * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CONNFS_SIZE_BITS)];
}

static bool
connfs_size_is_told(uint64_t inode, size_t size)
{
	const struct connfs_size *told = connfs_size_of(inode);

	return told->inode == inode && told->size == size;
}

static void
connfs_note_size(const struct stat *attributes)
{
	if (S_ISREG(attributes->st_mode))
		*connfs_size_of(attributes->st_ino) =
		    (struct connfs_size){.inode = attributes->st_ino, .size = (size_t)attributes->st_size};
}

static void
connfs_forget_size(uint64_t inode)
{
	connfs_size_of(inode)->inode = 0;
}

/* ------------------------------------------------------------------------------------------------------- attributes */

static mode_t
connfs_type(enum connfs_kind kind)
{
	if (kind == CONNFS_FILE || kind == CONNFS_RECORD)
		return S_IFREG;
	return kind == CONNFS_LINK ? S_IFLNK : S_IFDIR;
}

/* Whether a node shows packets or processes, which only the user who mounts it may read, also with allow_other. */
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
		connfs_set_times(attributes, strtoull(row->values[CONNFS_START], NULL, 10));
	}
	if (node->kind == CONNFS_FILE)
		attributes->st_size = (off_t)connfs_file_text(node->number, row->values, text);
	else if (node->kind == CONNFS_LINK)
		attributes->st_size = snprintf(NULL, 0, "../../%llu", (unsigned long long)node->cid);
	return 0;
}

static void
connfs_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	const struct connfs_handle *handle =
	    file != NULL ? (const struct connfs_handle *)(uintptr_t)file->fh : NULL;
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

/* Parses a connection id with a suffix; 0 if a name is none. */
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
	if (!connfs_kept_request(connfs_socket, &kept))
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
		connfs_index();
		node->kind = CONNFS_VALUE;
		return connfs_value_number(parent->number, name, connfs_indexed, &node->value) ? 0 : ENOENT;
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
	if (connfs_kept_request(connfs_socket, &kept) && kept.closed)
		connfs_add_entry(request, handle, "closed", &(struct connfs_node){.kind = CONNFS_CLOSED});
	for (size_t i = 0; i < connfs_list.count; i++)
		connfs_add_cid(request, handle, CONNFS_CONNECTION, connfs_list.rows[i].cid);
}

static void
connfs_add_values(fuse_req_t request, struct connfs_handle *handle, enum connfs_group group)
{
	uint64_t seen = connection_list_now(); /* each value is listed once */
	struct connfs_node node = {.kind = CONNFS_VALUE};
	const char *found[2];

	connfs_values_trim();
	for (size_t i = 0; i < connfs_list.count; i++) {
		unsigned count = connfs_group_values(group, connfs_list.rows[i].values, found);

		while (count-- > 0)
			if (connfs_value_mark(group, found[count], seen) &&
			    connfs_value_number(group, found[count], seen, &node.value))
				connfs_add_entry(request, handle, found[count], &node);
	}
	connfs_indexed = 0;
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

static void
connfs_close(struct connfs_handle *handle)
{
	if (handle->fd >= 0)
		close(handle->fd);
	free(handle->bytes);
	free(handle);
}

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

/* Replies with the bytes of an open directory or text from an offset on. */
static void
connfs_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *file)
{
	const struct connfs_handle *handle = (const struct connfs_handle *)(uintptr_t)file->fh;
	struct fuse_bufvec capture = FUSE_BUFVEC_INIT(size);
	size_t from = (size_t)offset < handle->length ? (size_t)offset : handle->length;

	/* The kernel takes the end of these bytes for that of the file, whatever it was told since. */
	if (handle->cached && !connfs_size_is_told(inode, handle->length))
		connfs_forget_size(inode);
	if (handle->fd >= 0) {
		capture.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
		capture.buf[0].fd = handle->fd;
		capture.buf[0].pos = offset;
		fuse_reply_data(request, &capture, FUSE_BUF_SPLICE_MOVE);
		return;
	}
	fuse_reply_buf(request, handle->bytes + from, handle->length - from < size ? handle->length - from : size);
}

static void
connfs_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	(void)inode;
	connfs_close((struct connfs_handle *)(uintptr_t)file->fh);
	fuse_reply_err(request, 0);
}

/* ------------------------------------------------------------------------------------------------------------ files */

/* Whether the list serves the next open: many files are opened in a row, and one list costs less than a request for
 * each. */
static bool
connfs_serves_row(void)
{
	if (connection_list_now() - connfs_row.time_ns > CONNFS_ROW_GAP_NS)
		connfs_row.length = 0;
	return ++connfs_row.length >= CONNFS_ROW_LENGTH &&
	       (double)connfs_list_took_ns <= CONNFS_ROW_FRESH_S * 1e9 / 2;
}

/* Writes the text of a file; an error number, or 0. */
static int
connfs_write_text(struct connfs_handle *handle, unsigned file, const struct connection_row *row)
{
	if (row == NULL)
		return ENOENT;
	handle->bytes = malloc(CONNFS_TEXT_MAX);
	if (handle->bytes == NULL)
		return ENOMEM;
	handle->length = connfs_file_text(file, row->values, handle->bytes);
	return 0;
}

/* Requests one connection, and writes the text of a file; an error number, or 0.  A process that is not known yet is
 * waited for if the file shows it. */
static int
connfs_request_text(struct connfs_handle *handle, const struct connfs_node *node)
{
	struct connection_list list;
	int error;

	if (!connfs_request_one(node->cid, !connfs_file_has_owner(node->number), &list))
		return EIO;
	error = connfs_write_text(handle, node->number, list.count > 0 ? list.rows : NULL);
	connection_list_clear(&list);
	return error;
}

/* Writes the text of a file, of the list or of a request; an error number, or 0.  A connection may be newer than the
 * list. */
static int
connfs_open_text(struct connfs_handle *handle, const struct connfs_node *node)
{
	int error = ENOENT;

	if (connfs_serves_row())
		error = !connfs_refresh(CONNFS_ROW_FRESH_S)
			    ? EIO
			    : connfs_write_text(handle, node->number, connfs_find(node->cid));
	if (error == ENOENT)
		error = connfs_request_text(handle, node);
	connfs_row.time_ns = connection_list_now();
	return error;
}

/* Requests the record of a connection that has ended; an error number, or 0. */
static int
connfs_open_record(struct connfs_handle *handle, const struct connfs_node *node)
{
	handle->bytes = connfs_closed_record(connfs_socket, node->cid);
	if (handle->bytes == NULL)
		return connfs_refresh_error(node->kind);
	handle->length = strlen(handle->bytes);
	return handle->length > 0 ? 0 : ENOENT;
}

/* The error number if there are no packets of a connection; `failure` as in struct written_capture. */
static int
connfs_capture_error(uint64_t cid, int failure)
{
	struct connfs_kept kept;

	if (failure == EIO || !connfs_kept_request(connfs_socket, &kept) || !connfs_refresh(0))
		return EIO;
	if (connfs_find(cid) == NULL)
		return ENOENT;
	return failure == 0 && kept.frames ? EBUSY : ENODATA;
}

/* Requests the packets of a connection; an error number, or 0. */
static int
connfs_open_capture(struct connfs_handle *handle, const struct connfs_node *node)
{
	struct written_capture written;
	char error[4096];

	pthread_mutex_unlock(&connfs_lock);
	handle->fd = write_client_open(connfs_socket, node->cid, &written, error, sizeof error);
	pthread_mutex_lock(&connfs_lock);
	return handle->fd >= 0 ? 0 : connfs_capture_error(node->cid, written.failure);
}

/* The ends of a connection, as text. */
struct connfs_ends {
	char local_address[64], local_port[8];
	char remote_address[64], remote_port[8];
};

/* Copies the ends of a connection, which is in the list; an error number, or 0. */
static int
connfs_copy_ends(uint64_t cid, struct connfs_ends *ends)
{
	const struct connection_row *row;

	if (!connfs_refresh(CONNFS_FRESH_S))
		return EIO;
	row = connfs_find(cid);
	if (row == NULL)
		return ENOENT;
	snprintf(ends->local_address, sizeof ends->local_address, "%s", row->values[CONNFS_LADDR]);
	snprintf(ends->local_port, sizeof ends->local_port, "%s", row->values[CONNFS_LPORT]);
	snprintf(ends->remote_address, sizeof ends->remote_address, "%s", row->values[CONNFS_RADDR]);
	snprintf(ends->remote_port, sizeof ends->remote_port, "%s", row->values[CONNFS_RPORT]);
	return 0;
}

/* Writes the history of a connection; an error number, or 0. */
static int
connfs_open_history(struct connfs_handle *handle, const struct connfs_node *node)
{
	struct connfs_ends ends;
	struct history_request request = {.socket = connfs_socket,
					  .cid = node->cid,
					  .local_address = ends.local_address,
					  .local_port = ends.local_port,
					  .remote_address = ends.remote_address,
					  .remote_port = ends.remote_port};
	int error = connfs_copy_ends(node->cid, &ends);
	char reason[4096];
	bool done;

	if (error != 0)
		return error;
	handle->bytes = malloc(HISTORY_TEXT_MAX);
	if (handle->bytes == NULL)
		return ENOMEM;
	pthread_mutex_unlock(&connfs_lock);
	done = history_read(&request, handle->bytes, reason, sizeof reason);
	error = errno;
	pthread_mutex_lock(&connfs_lock);
	if (!done)
		return connfs_capture_error(node->cid, error);
	handle->length = strlen(handle->bytes);
	return 0;
}

static void
connfs_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	struct connfs_handle *handle = calloc(1, sizeof *handle);
	struct connfs_node node;
	int error = ENOMEM;

	if (handle != NULL) {
		handle->fd = -1;
		if (!connfs_node(inode, &node) || connfs_type(node.kind) != S_IFREG)
			error = ENOENT;
		else if ((file->flags & O_ACCMODE) != O_RDONLY)
			error = EROFS;
		else if (node.kind == CONNFS_RECORD)
			error = connfs_open_record(handle, &node);
		else
			error = (node.number == CONNFS_CAPTURE	 ? connfs_open_capture
				 : node.number == CONNFS_HISTORY ? connfs_open_history
								 : connfs_open_text)(handle, &node);
	}
	if (error != 0) {
		if (handle != NULL)
			connfs_close(handle);
		fuse_reply_err(request, error);
		return;
	}
	file->fh = (uint64_t)(uintptr_t)handle;
	/* The text is that of this open, whatever its size was before. */
	handle->cached = handle->fd < 0 && connfs_size_is_told(inode, handle->length);
	file->direct_io = !handle->cached;
	if (fuse_reply_open(request, file) != 0)
		connfs_close(handle);
}

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

static void
connfs_open_locked(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
	pthread_mutex_lock(&connfs_lock);
	connfs_open(request, inode, file);
	pthread_mutex_unlock(&connfs_lock);
}

static void
connfs_read_locked(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *file)
{
	pthread_mutex_lock(&connfs_lock);
	connfs_read(request, inode, size, offset, file);
	pthread_mutex_unlock(&connfs_lock);
}

static const struct fuse_lowlevel_ops connfs_operations = {
    .lookup = connfs_lookup_locked,
    .getattr = connfs_getattr_locked,
    .readlink = connfs_readlink,
    .opendir = connfs_opendir_locked,
    .readdir = connfs_read_locked,
    .releasedir = connfs_release,
    .open = connfs_open_locked,
    .read = connfs_read_locked,
    .release = connfs_release,
};

/* Serves requests in several threads until the end; false on failure. */
static bool
connfs_loop(struct fuse_session *session)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	bool done;

	if (config == NULL)
		return false;
	done = fuse_session_loop_mt(session, config) >= 0;
	fuse_loop_cfg_destroy(config);
	return done;
}

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
};

static const struct fuse_opt connfs_options[] = {
    {"-s %s", offsetof(struct connfs_arguments, socket), 0},
    FUSE_OPT_END,
};

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

/* Checks a mount point; false, with the reason in connfs_error, if it is a file, or another netobs-connfs is mounted on
 * it, which would be hidden. */
static bool
connfs_check_mountpoint(const char *mountpoint)
{
	char *directory = realpath(mountpoint, NULL);
	const char *mistake = NULL;
	struct stat attributes;

	if (directory != NULL && connfs_is_mounted(directory))
		mistake = "a netobs-connfs is mounted there already; fusermount3 -u ends it";
	else if (stat(mountpoint, &attributes) == 0 && !S_ISDIR(attributes.st_mode))
		mistake = strerror(ENOTDIR);
	if (mistake != NULL)
		snprintf(connfs_error, sizeof connfs_error, "%s: %s", mountpoint, mistake);
	free(directory);
	return mistake == NULL;
}

/* Checks before the program is in the background that netobsd replies, and that the mount point and the socket can be
 * used.  False, with the reason in connfs_error. */
static bool
connfs_check(const char *mountpoint)
{
	char *socket;

	if (!connfs_check_mountpoint(mountpoint) ||
	    !connection_columns_choose(&connfs_columns, connfs_fields, NULL) || !connfs_receive_list(true))
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
connfs_serve(struct fuse_session *session, const struct fuse_cmdline_opts *options)
{
	int status = EXIT_FAILURE;

	if (!connfs_check(options->mountpoint)) {
		fprintf(stderr, "netobs-connfs: %s\n", connfs_error);
		return EXIT_FAILURE;
	}
	if (fuse_set_signal_handlers(session) != 0)
		return EXIT_FAILURE;
	if (fuse_session_mount(session, options->mountpoint) == 0) {
		if (fuse_daemonize(options->foreground) == 0)
			status = connfs_loop(session) ? EXIT_SUCCESS : EXIT_FAILURE;
		fuse_session_unmount(session);
	}
	fuse_remove_signal_handlers(session);
	return status;
}

/* Checks the options of FUSE, before netobsd is asked for. */
static int
connfs_begin(struct fuse_args *arguments, const struct fuse_cmdline_opts *options)
{
	struct fuse_session *session = fuse_session_new(arguments, &connfs_operations, sizeof connfs_operations, NULL);
	int status = EXIT_FAILURE;

	if (session == NULL)
		return EXIT_FAILURE; /* FUSE has printed a message */
	status = connfs_serve(session, options);
	fuse_session_destroy(session);
	return status;
}

int
main(int argc, char **argv)
{
	struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
	struct connfs_arguments own = {.socket = NULL};
	struct fuse_cmdline_opts options;
	int status = EXIT_SUCCESS;

	if (fuse_opt_parse(&arguments, &own, connfs_options, NULL) != 0 ||
	    fuse_opt_add_arg(&arguments, "-oro,default_permissions,subtype=" CONNFS_SUBTYPE) != 0 ||
	    fuse_parse_cmdline(&arguments, &options) != 0)
		return EXIT_FAILURE;
	if (own.socket != NULL)
		connfs_socket = own.socket;
	if (options.show_help) {
		connfs_print_help();
	} else if (options.show_version) {
		puts("netobs-connfs " PACKAGE_VERSION);
	} else if (options.mountpoint == NULL) {
		fprintf(stderr,
			"netobs-connfs: name the directory to mount on; netobs-connfs --help lists the options\n");
		status = EXIT_FAILURE;
	} else {
		status = connfs_begin(&arguments, &options);
	}
	free(options.mountpoint);
	fuse_opt_free_args(&arguments);
	return status;
}
