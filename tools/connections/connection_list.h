/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracked connections of a running netobsd as rows of texts: fields chosen by name, rates, order. */
#ifndef NETOBS_TOOLS_CONNECTIONS_CONNECTION_LIST_H
#define NETOBS_TOOLS_CONNECTIONS_CONNECTION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most fields of a request to netobsd. */
#define CONNECTION_COLUMNS_MAX 24u

/* Bytes of a value, with its NUL: more than the longest of netobsd. */
#define CONNECTION_VALUE_SIZE 1024u

/* The fields of a request, in the order of the values of a row. */
struct connection_columns {
	unsigned count; /* with cid, start and the field to sort by, if they are not shown */
	unsigned shown; /* the first ones */
	unsigned cid;
	unsigned start; /* CONNECTION_COLUMNS_MAX: not requested */
	unsigned sort;	/* `count`: in the order of the reply */
	bool reversed;
	const char *titles[CONNECTION_COLUMNS_MAX];
};

struct connection_request {
	const char *path;   /* of the control socket */
	char *const *words; /* conditions */
	int count;	    /* of the words */
	size_t most;	    /* rows that are read; 0: all */
	bool no_wait;	    /* reply at once, also if processes are still being looked up */
};

struct connection_row {
	uint64_t cid;
	const char **values; /* columns->count */
	double number;	     /* connection_list_sort(): the value to sort by, NAN if it is a text */
};

struct connection_list {
	size_t count;
	bool cut;		     /* there are more connections than the request reads */
	struct connection_row *rows; /* in the order of the reply until they are sorted */
	uint64_t time_ns;	     /* when the reply began, CLOCK_MONOTONIC */
	const char **values;	     /* those of the rows; owned */
	char *text;		     /* what the values point to; owned */
};

/* Chooses the fields of `list`, separated by commas, and the one to sort by, "-FIELD" in reverse; NULL: none.  Both
 * remain borrowed, and the commas are overwritten.  False if there are too many. */
bool connection_columns_choose(struct connection_columns *columns, char *list, const char *sort);

/* Requests the beginning of connections, too: connection_list_make_rates() needs it.  False if there are too many. */
bool connection_columns_add_start(struct connection_columns *columns);

/* The time on the clock of `time_ns`. */
uint64_t connection_list_now(void);

/* Requests the connections that match the conditions.  False with a reason, and errno, which is 0 if the conditions are
 * wrong; the list is empty then. */
bool connection_list_receive(struct connection_list *list, const struct connection_columns *columns,
			     const struct connection_request *request, char *error, size_t size);

/* Makes a list of the rows of `list` whose counters are replaced by their increase since an earlier list of the same
 * columns, per second: bytes as a whole number, others with a decimal place.  A connection that is new has counted
 * from 0, and so has one of another beginning, because netobsd was started again; if the earlier list is cut a new one
 * may be old, and its rates are "-".  The other values point to those of `list`.
 * Sorts `before` by connection id.  False if memory is short. */
bool connection_list_make_rates(struct connection_list *rates, const struct connection_list *list,
				struct connection_list *before, const struct connection_columns *columns);

/* Sorts the rows by connection id; then connection_list_find() finds one, NULL if there is none. */
void connection_list_sort_by_cid(struct connection_list *list);
const struct connection_row *connection_list_find(const struct connection_list *list, uint64_t cid);

/* Sorts the rows as the columns say: numbers before texts; numbers descend, texts ascend, unless reversed.
 * Equal values are in the order of connection ids. */
void connection_list_sort(struct connection_list *list, const struct connection_columns *columns);

/* Whether a value is a number, to be aligned at the right. */
bool connection_value_is_number(const char *value);

/* Frees what the list owns, and empties it. */
void connection_list_clear(struct connection_list *list);

#endif
