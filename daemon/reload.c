/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/reload.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/options.h"
#include "daemon/formula_sites.h"
#include "engine/engine.h"

struct reload {
	struct reload_targets targets;
	struct config current; /* the configuration in effect: its strings are in use */
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
	config_free(&reload->current);
	free(reload);
}

void
reload_copy_settings(struct config *config, struct config *fresh)
{
	struct ip_prefix *locals = config->local_prefixes;
	size_t count = config->local_prefix_count;
	uint32_t flows = config->flow_limits.flows;
	const char **formulas = fresh->formulas;

	config->filter = fresh->filter;
	config->local_prefixes = fresh->local_prefixes;
	config->local_prefix_count = fresh->local_prefix_count;
	fresh->local_prefixes = locals; /* so that each string is freed once */
	fresh->local_prefix_count = count;
	config->observe_inner = fresh->observe_inner;
	config->summary = fresh->summary;
	config->strict = fresh->strict;
	config->debug_topics = fresh->debug_topics;
	config->active_records_ns = fresh->active_records_ns;
	fresh->formulas = config->formulas; /* likewise */
	config->formulas = formulas;
	config->flow_limits = fresh->flow_limits;
	config->flow_limits.flows = flows;
}

/* Logs the changed settings: those that need a restart, and as a debug message those that take effect now. */
static void
reload_log_changes(const struct config *config, const struct config *fresh)
{
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->source == OPTION_COMMAND_LINE || options_values_equal(row, config, fresh))
			continue;
		if (row->change == OPTION_AT_RESTART)
			log_warning("%s: the change of %s needs a restart of netobsd", config->config_path, row->name);
		else
			log_debug(DEBUG_CONFIG, "reload: %s has changed", row->name);
	}
}

/* Changes that can fail: filter and prefixes of one worker. */
static bool
reload_apply_worker(struct worker *worker, const struct config *config)
{
	if (!input_set_filter(worker->input, config))
		return false;
	if (local_addrs_set_prefixes(worker->local_addrs, config->local_prefixes, config->local_prefix_count))
		return true;
	return log_out_of_memory();
}

/* Changes that can fail come first; if one fails nothing is changed. */
static bool
reload_apply(const struct reload_targets *targets, struct config *fresh)
{
	struct workers *workers = targets->workers;

	for (unsigned i = 0; i < workers->count; i++) {
		if (reload_apply_worker(&workers->worker[i], fresh))
			continue;
		for (unsigned changed = 0; changed <= i; changed++)
			reload_apply_worker(&workers->worker[changed], targets->config);
		return false;
	}
	/* Topics that netobsctl has set stay until the setting changes. */
	if (fresh->debug_topics != targets->config->debug_topics)
		log_debug_enable(fresh->debug_topics);
	reload_log_changes(targets->config, fresh);
	if (targets->formulas != NULL)
		formula_sites_reload(targets->formulas, fresh);
	reload_copy_settings(targets->config, fresh);
	for (unsigned i = 0; i < workers->count; i++)
		observer_set_limits(workers->worker[i].observer, &targets->config->flow_limits);
	return true;
}

/* Applies the changes while all workers are paused, because they read the configuration too. */
static bool
reload_apply_paused(const struct reload_targets *targets, struct config *fresh)
{
	bool applied;

	workers_pause(targets->workers);
	applied = reload_apply(targets, fresh);
	workers_resume(targets->workers);
	return applied;
}

bool
reload_run(struct reload *reload)
{
	const struct config *config = reload->targets.config;
	struct config fresh;
	uint64_t begin = clock_monotonic_ns();

	engine_reload_start(reload->targets.workers->count);
	log_debug(DEBUG_CONFIG, "reload of %s begins", config->config_path);
	if (options_parse(config->argc, config->argv, &fresh) != OPTIONS_RUN ||
	    !reload_apply_paused(&reload->targets, &fresh)) {
		log_warning("reload failed: the configuration is unchanged");
		config_free(&fresh);
		engine_reload_done(false, clock_monotonic_ns() - begin);
		return false;
	}
	config_free(&reload->current);
	reload->current = fresh;
	log_notice("%s reloaded", config->config_path);
	engine_reload_done(true, clock_monotonic_ns() - begin);
	return true;
}
