/* SPDX-License-Identifier: BSD-2-Clause */
/* The connections that have ended, for the directory closed/: their ids, and the record of one. */
#ifndef NETOBS_TOOLS_CONNFS_CONNFS_CLOSED_H
#define NETOBS_TOOLS_CONNFS_CONNFS_CLOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An end of a connection that has ended. */
struct connfs_closed_end {
	uint64_t cid;
	uint64_t time_ns; /* end of the connection, since the epoch */
	bool client;	  /* this id is the one that is listed */
};

struct connfs_closed_list {
	struct connfs_closed_end *ends; /* by cid; owned */
	size_t count;
	uint64_t time_ns; /* when it was requested, connection_list_now(); 0: there is no list */
};

/* Whether there is a list that is at most `most_age_ns` old. */
bool connfs_closed_is_fresh(const struct connfs_closed_list *list, uint64_t most_age_ns);

/* Requests the list from netobsd, unless it is at most `most_age_ns` old.  False, with an empty list, if netobsd does
 * not reply or keeps no connections that have ended. */
bool connfs_closed_refresh(struct connfs_closed_list *list, const char *socket, uint64_t most_age_ns);

/* The end with this id; NULL if it is not listed. */
const struct connfs_closed_end *connfs_closed_find(const struct connfs_closed_list *list, uint64_t cid);

/* Requests the record of the connection of which an end has this id, a line of JSON; "" if it is overwritten.  NULL
 * on failure.  The caller frees it. */
char *connfs_closed_record(const char *socket, uint64_t cid);

#endif
