/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/service_table.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"

struct service_table {
	pthread_mutex_t mutex;
	struct services *services;
};

struct service_table *
service_table_new(void)
{
	struct service_table *table = calloc(1, sizeof *table);

	if (table == NULL || (table->services = services_new()) == NULL) {
		log_out_of_memory();
		free(table);
		return NULL;
	}
	pthread_mutex_init(&table->mutex, NULL);
	return table;
}

void
service_table_free(struct service_table *table)
{
	if (table == NULL)
		return;
	services_free(table->services);
	pthread_mutex_destroy(&table->mutex);
	free(table);
}

void
service_table_take(struct service_table *table, const struct connrec *record)
{
	pthread_mutex_lock(&table->mutex);
	services_take(table->services, record, false);
	pthread_mutex_unlock(&table->mutex);
}

struct services *
service_table_copy(struct service_table *table)
{
	struct services *copy;

	pthread_mutex_lock(&table->mutex);
	copy = services_copy(table->services);
	pthread_mutex_unlock(&table->mutex);
	return copy;
}
