/* SPDX-License-Identifier: BSD-2-Clause */
/* The lists that netobs-connfs shows, requested from netobsd when they are needed.  When a request has waited for
 * a second or longer and failed, further ones fail at once for a second. */
#ifndef NETOBS_TOOLS_CONNFS_CONNFS_LIST_H
#define NETOBS_TOOLS_CONNFS_CONNFS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/connections/connection_list.h"
#include "tools/connfs/connfs_closed.h"
#include "tools/connfs/connfs_tree.h"

/* Seconds that the kernel keeps names and attributes, and that a list serves lookups. */
#define CONNFS_FRESH_S 1.0

/* What netobsd keeps besides the connections that it tracks. */
struct connfs_kept {
	bool closed; /* connections that have ended: --closed-connections */
	bool frames; /* --flight-memory */
};

extern const char *connfs_socket;	   /* path of the control socket */
extern struct connection_columns connfs_columns; /* of CONNFS_FIELDS */
extern struct connection_list connfs_list; /* sorted by connection id; `time_ns` is 0 until there is one */
extern uint64_t connfs_list_took_ns;	   /* time from the request for the list to its end */
extern struct connfs_closed_list connfs_closed;
extern char connfs_error[4096]; /* why there is no list */

/* Sets the path of the control socket, which is borrowed, and chooses the fields.  False if there are too many. */
bool connfs_list_begin(const char *socket);

/* Requests the list, without waiting for processes that are looked up unless `wait` is set.  False, with the reason in
 * connfs_error and an empty list, if netobsd does not reply. */
bool connfs_receive_list(bool wait);

/* Requests the list unless it is at most `most_age` seconds old; false like connfs_receive_list(). */
bool connfs_refresh(double most_age);

/* Requests the list that has the names in a directory, or a node of this kind; false like connfs_receive_list(). */
bool connfs_refresh_for(enum connfs_kind kind, double most_age);

/* The error number after connfs_refresh_for() has failed. */
int connfs_refresh_error(enum connfs_kind kind);

/* Requests one connection; false if netobsd does not reply. */
bool connfs_request_one(uint64_t cid, bool no_wait, struct connection_list *list);

/* Requests what netobsd keeps besides; false if netobsd does not reply. */
bool connfs_request_kept(struct connfs_kept *kept);

/* Requests a record like connfs_closed_record(). */
char *connfs_request_record(uint64_t cid);

/* The row of a connection in the list; NULL if there is none. */
const struct connection_row *connfs_find(uint64_t cid);

/* Marks the values of the list, unless they are; returns the mark, for connfs_value_number(). */
uint64_t connfs_index(void);

/* The values have other marks now: connfs_index() must mark them again. */
void connfs_index_end(void);

/* Whether a connection has a value. */
bool connfs_has_value(const struct connection_row *row, enum connfs_group group, const char *text);

#endif
