/* SPDX-License-Identifier: BSD-2-Clause */
/* A slow path for the test of the search: the index of app flows as a walk through all of them. */
#include "flow/stream/app_flow.h"
#include "flow/stream/app_flow_index.h"

void
app_flow_index_remove(struct app_flow_table *table, struct app_flow *c)
{
	(void)table;
	c->index_key = 0;
}

void
app_flow_index_set(struct app_context *ctx, uint64_t key)
{
	ctx->app_flow->index_key = key;
}

const void *
app_flow_index_find(const struct app_context *ctx, uint64_t key)
{
	const struct app_flow_table *table = ctx->table;

	for (unsigned i = 1; i <= table->connections_max; i++) {
		const struct app_flow *c = &table->entries[i];

		if (c != ctx->app_flow && c->index_key == key)
			return app_flow_state(table, c);
	}
	return NULL;
}
