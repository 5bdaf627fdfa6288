/* SPDX-License-Identifier: BSD-2-Clause */
/* A netobsd with more interfaces than a part of a reply has space for. */
#ifndef NETOBS_TESTS_MANY_INTERFACES_H
#define NETOBS_TESTS_MANY_INTERFACES_H

#include <stdio.h>
#include <stdlib.h>

#include "daemon/query/query_context.h"
#include "daemon/query/server.h"

#define MANY_INTERFACES 3000u

static inline void
many_interfaces_visit(struct input *input, input_visitor *visit, void *context)
{
	static struct interface identities[MANY_INTERFACES];

	(void)input;
	for (unsigned i = 0; i < MANY_INTERFACES; i++) {
		struct interface *identity = &identities[i];
		struct input_interface interface = {
		    .interface = identity, .link_type = 1, .state = INTERFACE_UP, .received = i};

		snprintf(identity->name, sizeof identity->name, "interface-%u", i);
		visit(context, &interface);
	}
}

/* Free it with many_interfaces_free(); NULL if out of memory. */
static inline struct query_context *
many_interfaces_new(void)
{
	static const char *names[MANY_INTERFACES + 1];
	static const struct input_ops ops = {.visit = many_interfaces_visit};
	static struct input input = {.ops = &ops};
	static struct config config = {.interface_names = names};
	struct query_context *query = calloc(1, sizeof *query);
	struct workers *workers = calloc(1, sizeof *workers + sizeof workers->worker[0]);

	if (query == NULL || workers == NULL) {
		free(query);
		free(workers);
		return NULL;
	}
	for (unsigned i = 0; i < MANY_INTERFACES; i++)
		names[i] = "";
	workers->config = &config;
	workers->count = 1;
	workers->worker[0].input = &input;
	query->workers = workers;
	return query;
}

static inline void
many_interfaces_free(struct query_context *query)
{
	free(query->workers);
	free(query);
}

#endif
