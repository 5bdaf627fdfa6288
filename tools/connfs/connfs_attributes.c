/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_operations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/connfs/connfs_files.h"
#include "tools/connfs/connfs_list.h"

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

bool
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

void
connfs_forget_size(uint64_t inode)
{
	connfs_size_of(inode)->inode = 0;
}

/* ------------------------------------------------------------------------------------------------------- attributes */

mode_t
connfs_type(enum connfs_kind kind)
{
	if (kind == CONNFS_FILE || kind == CONNFS_RECORD)
		return S_IFREG;
	return kind == CONNFS_LINK ? S_IFLNK : S_IFDIR;
}

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

int
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

void
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
