/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_operations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/connfs/connfs_files.h"
#include "tools/connfs/connfs_list.h"

/* Age of a list, seconds, from which on another one is requested for a name that is not in it. */
#define CONNFS_RETRY_S 0.1

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

void
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

void
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
