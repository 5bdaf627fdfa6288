/* SPDX-License-Identifier: BSD-2-Clause */
/* The state from which the control socket and the metrics serve requests. */
#ifndef NETOBS_DAEMON_QUERY_QUERY_CONTEXT_H
#define NETOBS_DAEMON_QUERY_QUERY_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/stats/build_id.h"
#include "daemon/stats/stats.h"
#include "formulas/formula_set.h"

/* All pointers are borrowed. */
struct query_context {
	const struct config *config;
	struct workers *workers;
	struct build_id build;
	int64_t started; /* seconds since the epoch */
	/* Reloads the configuration.  False, with `error`, if nothing was changed. */
	bool (*reload)(void *context, char *error, size_t size);
	struct formula_set *formulas; /* NULL if there can be none */
	/* Defines a formula, or removes one.  False, with `error`, if nothing was changed. */
	bool (*define_formula)(void *context, const char *text, char *error, size_t size);
	bool (*undefine_formula)(void *context, const char *name, char *error, size_t size);
	/* Reads the names of the probe sites again, and brings the formulas up to date with them. */
	void (*update_sites)(void *context);
	/* The name of a probe site in the file, "" for its default name, and whether a tracer is attached to it.  False
	 * if there is no such site. */
	bool (*describe_site)(void *context, unsigned slot, const char **name, bool *traced);
	void *context;
	unsigned captures; /* replies to "write" in progress */
	struct service_table *services; /* of connections that have ended; NULL without metrics */
	struct record_ring *closed; /* records of connections that have ended; NULL if no records are kept */
};

#endif
