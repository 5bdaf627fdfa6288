/* SPDX-License-Identifier: BSD-2-Clause */
/* The connections of a running netobsd as rows: fields chosen by name, rates, order. */
#ifndef NETOBS_TOOLS_CONNECTIONS_CONNECTION_LIST_H
#define NETOBS_TOOLS_CONNECTIONS_CONNECTION_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/record_fields.h"

/* The fields of a request, in the order of the values of a row. */
struct connection_columns {
	struct record_fields fields; /* with cid, start and the field to sort by, if they are not shown */
	unsigned shown;		     /* the first ones */
	unsigned cid, start;
	struct record_order order; /* `field` NULL: none, the rows stay as they are */
	unsigned sort;		   /* the column of that field */
};

struct connection_request {
	const char *path;	/* of the control socket */
	const char *expression; /* selects connections; NULL or "": all */
	uint64_t cid;		/* of either end of the only connection; 0: all */
	size_t most;		/* rows that are read; 0: all */
	bool no_wait;		/* reply at once, also if processes are still being looked up */
};

/* A number in 64 bits, or a text, as the field is. */
union connection_value {
	uint64_t number;
	const char *text;
};

struct connection_row {
	uint64_t cid;
	union connection_value *values; /* columns->fields.count */
	bool unrated;			/* the increase of its counters is not known */
};

struct connection_list {
	size_t count;
	bool cut;		       /* there are more connections than the request reads */
	struct connection_row *rows;   /* in the order of the reply until they are sorted */
	uint64_t time_ns;	       /* when the reply began, CLOCK_MONOTONIC */
	double seconds;		       /* counters are their increase in this time; 0: counts */
	union connection_value *values; /* those of the rows; owned */
	char *text;		       /* what the texts point to; owned */
	char note[256];		       /* about the rows, "" if there is none */
};

/* Chooses the fields of `list`, separated by commas, and the one to sort by, "-FIELD" in reverse; NULL: none.  False,
 * with `error`, if a name is wrong. */
bool connection_columns_choose(struct connection_columns *columns, const char *list, const char *sort,
			       char error[RECORD_ERROR_MAX]);

/* The time on the clock of `time_ns`. */
uint64_t connection_list_now(void);

/* Requests the connections that are selected.  False with a reason, and errno, which is 0 if netobsd rejects the
 * request; the list is empty then. */
bool connection_list_receive(struct connection_list *list, const struct connection_columns *columns,
			     const struct connection_request *request, char *error, size_t size);

/* Makes a list of the rows of `list` whose counters are replaced by their increase since an earlier list of the same
 * columns.  A connection that is new has counted from 0, and so has one of another beginning, because netobsd was
 * started again; if the earlier list is cut a new one may be old, and is unrated.  Texts remain those of `list`.  Sorts
 * `before` by connection id.  False if memory is short. */
bool connection_list_make_rates(struct connection_list *rates, const struct connection_list *list,
				struct connection_list *before, const struct connection_columns *columns);

/* Sorts the rows by connection id; then connection_list_find() finds one, NULL if there is none. */
void connection_list_sort_by_cid(struct connection_list *list);
const struct connection_row *connection_list_find(const struct connection_list *list, uint64_t cid);

/* Sorts the rows as the columns say.  Equal values are in the order of connection ids, so that a connection keeps its
 * line in the next table. */
void connection_list_sort(struct connection_list *list, const struct connection_columns *columns);

/* Frees what the list owns, and empties it. */
void connection_list_clear(struct connection_list *list);

/* Sets the fields in a row that an object of a reply has.  Returns the name of one that it lacks, NULL if there is
 * none. */
const char *connection_row_read(const json_t *object, const struct record_fields *fields, struct connrow *to);

/* Sets the fields of a row of a list. */
void connection_row_restore(const struct connection_row *row, const struct connection_columns *columns,
			    struct connrow *to);

#endif
