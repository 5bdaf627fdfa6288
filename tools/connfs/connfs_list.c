/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/connfs/connfs_kept.h"

const char *connfs_socket;
struct connection_list connfs_list;
uint64_t connfs_list_took_ns;
struct connfs_closed_list connfs_closed;
char connfs_error[4096];

static char connfs_fields[] = CONNFS_FIELDS;
static struct connection_columns connfs_columns;
static uint64_t connfs_indexed; /* `time_ns` of the list whose values are marked */

bool
connfs_list_begin(const char *socket)
{
	connfs_socket = socket;
	return connection_columns_choose(&connfs_columns, connfs_fields, NULL);
}

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

bool
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

bool
connfs_refresh(double most_age)
{
	if (connfs_list.time_ns != 0 && (double)(connection_list_now() - connfs_list.time_ns) <= most_age * 1e9)
		return true;
	return connfs_receive_list(false);
}

bool
connfs_request_one(uint64_t cid, bool no_wait, struct connection_list *list)
{
	char condition[40], *const words[] = {condition}, error[4096];
	struct connection_request request = {.path = connfs_socket, .words = words, .count = 1, .no_wait = no_wait};

	snprintf(condition, sizeof condition, "cid=%llu", (unsigned long long)cid);
	return connection_list_receive(list, &connfs_columns, &request, error, sizeof error);
}

bool
connfs_refresh_for(enum connfs_kind kind, double most_age)
{
	if (kind == CONNFS_CLOSED || kind == CONNFS_RECORD)
		return connfs_closed_refresh(&connfs_closed, connfs_socket, (uint64_t)(most_age * 1e9));
	return connfs_refresh(most_age);
}

int
connfs_refresh_error(enum connfs_kind kind)
{
	struct connfs_kept kept;

	if ((kind != CONNFS_CLOSED && kind != CONNFS_RECORD) || !connfs_kept_request(connfs_socket, &kept))
		return EIO;
	return kept.closed ? EBUSY : ENOENT;
}

const struct connection_row *
connfs_find(uint64_t cid)
{
	return connection_list_find(&connfs_list, cid);
}

uint64_t
connfs_index(void)
{
	const char *found[2];

	if (connfs_indexed == connfs_list.time_ns)
		return connfs_indexed;
	connfs_indexed = connfs_list.time_ns;
	connfs_values_trim();
	for (size_t i = 0; i < connfs_list.count; i++)
		for (unsigned group = 0; group < CONNFS_GROUPS; group++) {
			unsigned count = connfs_group_values(group, connfs_list.rows[i].values, found);

			while (count-- > 0)
				connfs_value_mark(group, found[count], connfs_indexed);
		}
	return connfs_indexed;
}

void
connfs_index_end(void)
{
	connfs_indexed = 0;
}

bool
connfs_has_value(const struct connection_row *row, enum connfs_group group, const char *text)
{
	const char *found[2];
	unsigned count = connfs_group_values(group, row->values, found);

	while (count-- > 0)
		if (strcmp(found[count], text) == 0)
			return true;
	return false;
}
