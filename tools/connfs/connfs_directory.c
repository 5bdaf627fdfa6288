/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_operations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/connfs/connfs_files.h"
#include "tools/connfs/connfs_list.h"

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

void
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
