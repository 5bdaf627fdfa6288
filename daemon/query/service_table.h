/* SPDX-License-Identifier: BSD-2-Clause */
/* The services of all connections of a run, for the metrics and their page.  Any thread may call these functions. */
#ifndef NETOBS_DAEMON_QUERY_SERVICE_TABLE_H
#define NETOBS_DAEMON_QUERY_SERVICE_TABLE_H

#include "records/services.h"

struct service_table;

/* NULL, with a message logged, if out of memory. */
struct service_table *service_table_new(void);
void service_table_free(struct service_table *table);

/* Counts the record of a connection that has ended. */
void service_table_take(struct service_table *table, const struct connrec *record);

/* A copy, which the caller frees; NULL if out of memory. */
struct services *service_table_copy(struct service_table *table);

#endif
