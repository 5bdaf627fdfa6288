/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_list.h"

#include <errno.h>
#include <string.h>

#include "tools/control_client.h"
#include "tools/json_reader.h"

const char *connfs_socket;
struct connection_list connfs_list;
uint64_t connfs_list_took_ns;
struct connfs_closed_list connfs_closed;
char connfs_error[4096];

struct connection_columns connfs_columns;

static uint64_t connfs_indexed; /* `time_ns` of the list whose values are marked */

/* Shortest wait for a request that fails, and the time after it in which no other one is sent: the requests that have
 * waited for it fail, too, instead of each waiting as long. */
#define CONNFS_HUNG_NS UINT64_C(1000000000)

/* Most bytes of a status, of which a path is the longest part. */
#define STATUS_MAX 32768u

static uint64_t connfs_began_ns; /* when the last request began */
static uint64_t connfs_hung_ns;	 /* when the last one that waited as long failed; 0: no request has */

bool
connfs_list_begin(const char *socket)
{
	char error[RECORD_ERROR_MAX];

	connfs_socket = socket;
	return connection_columns_choose(&connfs_columns, CONNFS_FIELDS, NULL, error);
}

/* Drops rows whose connection id is not the name of a directory, or that of the row before; the list is sorted. */
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

/* Begins a request; false if another one has just waited for netobsd in vain. */
static bool
connfs_begin_request(void)
{
	connfs_began_ns = connection_list_now();
	return connfs_hung_ns == 0 || connfs_began_ns - connfs_hung_ns > CONNFS_HUNG_NS;
}

/* Ends a request, which is `served` or not; returns `served`. */
static bool
connfs_end_request(bool served)
{
	uint64_t now = connection_list_now();

	if (!served && now - connfs_began_ns >= CONNFS_HUNG_NS)
		connfs_hung_ns = now;
	return served;
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
	return connfs_begin_request() && connfs_end_request(connfs_receive_list(false));
}

bool
connfs_request_one(uint64_t cid, bool no_wait, struct connection_list *list)
{
	struct connection_request request = {.path = connfs_socket, .cid = cid, .no_wait = no_wait};
	char error[4096];

	return connfs_begin_request() &&
	       connfs_end_request(connection_list_receive(list, &connfs_columns, &request, error, sizeof error));
}

/* Requests the status of netobsd; false if there is no reply. */
static bool
connfs_receive_kept(struct connfs_kept *kept)
{
	uint64_t closed, frames;
	char error[4096];
	json_t *lines = client_read_array(connfs_socket, "status\n", STATUS_MAX, error, sizeof error);
	const json_t *status = json_array_get(lines, 0);
	bool known = json_read_unsigned(status, "max_closed_connections", &closed) &&
		     json_read_unsigned(status, "flight_memory", &frames);

	if (known)
		*kept = (struct connfs_kept){.closed = closed > 0, .frames = frames > 0};
	json_decref(lines);
	return known;
}

bool
connfs_request_kept(struct connfs_kept *kept)
{
	return connfs_begin_request() && connfs_end_request(connfs_receive_kept(kept));
}

char *
connfs_request_record(uint64_t cid)
{
	char *record = connfs_begin_request() ? connfs_closed_record(connfs_socket, cid) : NULL;

	connfs_end_request(record != NULL);
	return record;
}

bool
connfs_refresh_for(enum connfs_kind kind, double most_age)
{
	const uint64_t age_ns = (uint64_t)(most_age * 1e9);

	if (kind != CONNFS_CLOSED && kind != CONNFS_RECORD)
		return connfs_refresh(most_age);
	return connfs_closed_is_fresh(&connfs_closed, age_ns) ||
	       (connfs_begin_request() &&
		connfs_end_request(connfs_closed_refresh(&connfs_closed, connfs_socket, age_ns)));
}

int
connfs_refresh_error(enum connfs_kind kind)
{
	struct connfs_kept kept;

	if ((kind != CONNFS_CLOSED && kind != CONNFS_RECORD) || !connfs_request_kept(&kept))
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
	char found[2][CONNFS_VALUE_SIZE];

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
	char found[2][CONNFS_VALUE_SIZE];
	unsigned count = connfs_group_values(group, row->values, found);

	while (count-- > 0)
		if (strcmp(found[count], text) == 0)
			return true;
	return false;
}
