/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/reload.h"

#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/config/options.h"

struct reload {
	struct reload_targets targets;
	struct config held; /* the configuration in effect: its strings are in use */
};

struct reload *
reload_new(const struct reload_targets *targets)
{
	struct reload *reload = calloc(1, sizeof *reload);

	if (reload != NULL)
		reload->targets = *targets;
	return reload;
}

void
reload_free(struct reload *reload)
{
	if (reload == NULL)
		return;
	options_free(&reload->held);
	free(reload);
}

void
reload_take(struct config *config, struct config *fresh)
{
	struct prefix *locals = config->locals;
	size_t count = config->local_count;
	uint32_t flows = config->limits.flows;

	config->filter = fresh->filter;
	config->locals = fresh->locals;
	config->local_count = fresh->local_count;
	fresh->locals = locals; /* so that each string is freed once */
	fresh->local_count = count;
	config->inner = fresh->inner;
	config->summary = fresh->summary;
	config->strict = fresh->strict;
	config->limits = fresh->limits;
	config->limits.flows = flows;
}

/* Logs changed settings that need a restart. */
static void
tell_restarts(const struct config *config, const struct config *fresh)
{
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->place != ON_LINE && row->change == AT_RESTART && !options_same(row, config, fresh))
			log_warning("%s: the change of %s needs a restart of netobsd", config->file, row->name);
	}
}

/* Changes that can fail: filter and prefixes of one worker. */
static bool
set(struct worker *worker, const struct config *config)
{
	if (!input_filter(worker->input, config))
		return false;
	if (locals_set_prefixes(worker->locals, config->locals, config->local_count))
		return true;
	log_error("out of memory");
	return false;
}

/* Changes that can fail come first; if one fails nothing is changed. */
static bool
apply(const struct reload_targets *targets, struct config *fresh)
{
	struct workers *workers = targets->workers;

	for (unsigned i = 0; i < workers->count; i++) {
		if (set(&workers->each[i], fresh))
			continue;
		for (unsigned changed = 0; changed <= i; changed++)
			set(&workers->each[changed], targets->config);
		return false;
	}
	tell_restarts(targets->config, fresh);
	reload_take(targets->config, fresh);
	for (unsigned i = 0; i < workers->count; i++)
		observer_set_limits(workers->each[i].observer, &targets->config->limits);
	return true;
}

/* Workers must not run, because they read the configuration too. */
static bool
apply_between_frames(const struct reload_targets *targets, struct config *fresh)
{
	bool applied;

	workers_pause(targets->workers);
	applied = apply(targets, fresh);
	workers_resume(targets->workers);
	return applied;
}

bool
reload_now(struct reload *reload)
{
	const struct config *config = reload->targets.config;
	struct config fresh;

	if (options_parse(config->argc, config->argv, &fresh) != OPTIONS_RUN ||
	    !apply_between_frames(&reload->targets, &fresh)) {
		log_warning("reload failed: the configuration is unchanged");
		options_free(&fresh);
		return false;
	}
	options_free(&reload->held);
	reload->held = fresh;
	log_notice("%s reloaded", config->file);
	return true;
}
