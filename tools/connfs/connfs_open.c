/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/connfs/connfs_list.h"
#include "tools/connfs/connfs_tree.h"
#include "tools/history/history.h"
#include "tools/write_client.h"

/* Files that are opened in a row, with at most CONNFS_ROW_GAP_NS from the end of one open to the beginning of the next:
 * from the CONNFS_ROW_LENGTH-th on they show the values of one list, which is at most CONNFS_ROW_FRESH_S seconds old.
 * A list that takes longer than half of that to arrive is not used. */
#define CONNFS_ROW_GAP_NS  UINT64_C(50000000)
#define CONNFS_ROW_LENGTH  8u
#define CONNFS_ROW_FRESH_S 1.0

pthread_mutex_t connfs_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	unsigned length;
	uint64_t time_ns; /* end of the last open */
} connfs_row;

/* ------------------------------------------------------------------------------------------------------------ sizes */

/*
 * The size of a text in the latest attributes that the kernel has, by a hash of the inode number.  If a text has this
 * size when it is opened, the kernel may read it through its page cache: it then needs one request instead of two, and
 * does not pin the whole buffer of the reader.
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

/* Whether the latest attributes of a text that the kernel has are of this size. */
static bool
connfs_kernel_has_size(uint64_t inode, size_t size)
{
	const struct connfs_size *latest = connfs_size_of(inode);

	return latest->inode == inode && latest->size == size;
}

void
connfs_note_size(const struct stat *attributes)
{
	if (S_ISREG(attributes->st_mode))
		*connfs_size_of(attributes->st_ino) =
		    (struct connfs_size){.inode = attributes->st_ino, .size = (size_t)attributes->st_size};
}

/* The kernel has another size of a text now. */
static void
connfs_forget_size(uint64_t inode)
{
	connfs_size_of(inode)->inode = 0;
}

/* ---------------------------------------------------------------------------------------------------------- handles */

void
connfs_close(struct connfs_handle *handle)
{
	if (handle->fd >= 0)
		close(handle->fd);
	free(handle->bytes);
	free(handle);
}

void
connfs_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *file)
{
	const struct connfs_handle *handle = (const struct connfs_handle *)(uintptr_t)file->fh;
	struct fuse_bufvec capture = FUSE_BUFVEC_INIT(size);
	size_t from = (size_t)offset < handle->length ? (size_t)offset : handle->length;

	/* The kernel takes the end of these bytes for that of the file, even if it has another size by now. */
	if (handle->cached) {
		pthread_mutex_lock(&connfs_lock);
		if (!connfs_kernel_has_size(inode, handle->length))
			connfs_forget_size(inode);
		pthread_mutex_unlock(&connfs_lock);
	}
	if (handle->fd >= 0) {
		capture.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
		capture.buf[0].fd = handle->fd;
		capture.buf[0].pos = offset;
		fuse_reply_data(request, &capture, FUSE_BUF_SPLICE_MOVE);
		return;
	}
	fuse_reply_buf(request, handle->bytes + from, handle->length - from < size ? handle->length - from : size);
}

void
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
	return ++connfs_row.length >= CONNFS_ROW_LENGTH && (double)connfs_list_took_ns <= CONNFS_ROW_FRESH_S * 1e9 / 2;
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
	handle->bytes = connfs_request_record(node->cid);
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

	if (failure == EIO || !connfs_request_kept(&kept) || !connfs_refresh(0))
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
	char client[64], client_port[8];
	char server[64], server_port[8];
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
	snprintf(ends->client, sizeof ends->client, "%s", row->values[CONNFS_CLIENT].text);
	snprintf(ends->client_port, sizeof ends->client_port, "%u", (unsigned)row->values[CONNFS_CLIENT_PORT].number);
	snprintf(ends->server, sizeof ends->server, "%s", row->values[CONNFS_SERVER].text);
	snprintf(ends->server_port, sizeof ends->server_port, "%u", (unsigned)row->values[CONNFS_SERVER_PORT].number);
	return 0;
}

/* Writes the history of a connection; an error number, or 0. */
static int
connfs_open_history(struct connfs_handle *handle, const struct connfs_node *node)
{
	struct connfs_ends ends;
	struct history_request request = {.socket = connfs_socket,
					  .cid = node->cid,
					  .address = {ends.client, ends.server},
					  .port = {ends.client_port, ends.server_port}};
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

void
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
	handle->cached = handle->fd < 0 && connfs_kernel_has_size(inode, handle->length);
	file->direct_io = !handle->cached;
	if (fuse_reply_open(request, file) != 0)
		connfs_close(handle);
}
