/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/dtrace.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/engine.h"
#include "formulas/slots/slots_object.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"
#include "probes/site/site_select.h"
#include "usdt/dtprobed.h"
#include "usdt/site_table.h"

#define NAME_MAX_BYTES 128

/* The DOFs of the process: one for each file with sites and each provider in it. */
enum dof { DOF_NETOBS, DOF_ENGINE, DOF_FORMULAS, DOFS };

struct dtrace {
	int device;
	bool refused; /* by dtprobed once: nothing more is handed to it */
	/* Base names of the program's file and of that with the sites of formulas: DTrace's modules. */
	char module[DTPROBED_MODULE_MAX], formulas_module[DTPROBED_MODULE_MAX];
	struct dtprobed_entry entries[DOFS];
};

/* Room for what the description of a provider points to, while it is written. */
#define DESCRIPTION_MAX 128 /* probes */
struct description {
	struct dof_provider provider;
	struct dof_probe probes[DESCRIPTION_MAX];
	char names[DESCRIPTION_MAX][2][NAME_MAX_BYTES];
};
_Static_assert(PROBE_COUNT <= DESCRIPTION_MAX && SLOTS_COUNT <= DESCRIPTION_MAX, "room for the provider netobs");

/* The types of an argument that points to a struct of netobs.h, by the names that the D library gives them. */
static char native_types[STRUCT_COUNT][NAME_MAX_BYTES], translated_types[STRUCT_COUNT][NAME_MAX_BYTES];

static void
dtrace_name_types(void)
{
	for (unsigned i = 0; i < STRUCT_COUNT; i++) {
		snprintf(native_types[i], NAME_MAX_BYTES, "netobs_%s_t *", manifest_structs[i].name);
		snprintf(translated_types[i], NAME_MAX_BYTES, "nobs_%s_t *", manifest_structs[i].name);
	}
}

/* -------------------------------------------------------------------------------------------------- descriptions */

static void
description_begin(struct description *description, const char *name)
{
	description->provider = (struct dof_provider){.name = name, .probes = description->probes};
	for (unsigned i = 0; i < DOF_ELEMENTS; i++)
		description->provider.stability[i] = "Private/Private/Unknown";
}

/* The stability of the provider netobs. */
static void
description_set_stability(struct description *description)
{
	_Static_assert((int)MANIFEST_STABILITIES == (int)DOF_ELEMENTS, "the stabilities of netobs.d are DTrace's");
	memcpy(description->provider.stability, manifest_stability, sizeof manifest_stability);
}

/* Adds a probe of `function`, whose name has "__" for the "-" of D. */
static struct dof_probe *
description_add(struct description *description, const char *function, const char *c_name,
		const struct probe_site *site)
{
	size_t index = description->provider.count;
	struct dof_probe *probe;
	char *name, *symbol, *to;

	assert(index < DESCRIPTION_MAX); /* engine.def has fewer probes */
	probe = &description->probes[index];
	name = to = description->names[index][0];
	symbol = description->names[index][1];
	for (const char *from = c_name; *from != '\0' && to < name + NAME_MAX_BYTES - 1; from++) {
		bool is_hyphen = from[0] == '_' && from[1] == '_';

		*to++ = is_hyphen ? '-' : *from;
		from += is_hyphen;
	}
	*to = '\0';
	snprintf(symbol, NAME_MAX_BYTES, "site_%s", function);
	*probe = (struct dof_probe){.name = name, .function = symbol, .site = site->address};
	description->provider.count++;
	return probe;
}

static void
description_set_argument(struct dof_probe *probe, unsigned index, const struct struct_info *type)
{
	probe->native[index] = type != NULL ? native_types[type - manifest_structs] : "void *";
	probe->translated[index] = type != NULL ? translated_types[type - manifest_structs] : "void *";
}

static void
describe_netobs(struct description *description)
{
	struct site_table table = site_table_of_program();

	description_begin(description, "netobs");
	description_set_stability(description);
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct probe_info *info = &manifest_probes[i];
		const struct probe_site *site = site_table_find(&table, semaphores_of(i), site_selected() == SITE_FAST);
		struct dof_probe *probe;

		if (site == NULL)
			continue;
		probe = description_add(description, info->c_name, info->c_name, site);
		probe->arg_count = info->arg_count;
		for (unsigned j = 0; j < info->arg_count; j++)
			description_set_argument(probe, j, info->args[j].type);
	}
}

static void
describe_engine(struct description *description)
{
	struct site_table table = site_table_of_program();

	description_begin(description, "netobs_engine");
	for (size_t i = 0; i < engine_probe_count; i++) {
		const struct engine_probe *info = &engine_probes[i];
		const struct probe_site *site = site_table_find(&table, info->semaphore, false);
		struct dof_probe *probe;
		char function[NAME_MAX_BYTES];

		if (site == NULL)
			continue;
		snprintf(function, sizeof function, "engine_%s", info->c_name);
		probe = description_add(description, function, info->c_name, site);
		probe->arg_count = info->arg_count;
		for (unsigned j = 0; j < info->arg_count; j++)
			probe->native[j] = probe->translated[j] = "uint64_t";
	}
}

/* The type of an argument of a formula: that of all its probes, or NULL. */
static const struct struct_info *
formula_argument_type(const struct formula *formula, unsigned index)
{
	const struct struct_info *type = NULL;
	bool found = false;

	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct struct_info *other = manifest_probes[i].args[index].type;

		if (!formula_has_probe(formula, i))
			continue;
		if (found && other != type)
			return NULL;
		type = other;
		found = true;
	}
	return type;
}

static struct site_table
formulas_table(const struct formula_sites *sites)
{
	const struct slots_object *object = formula_sites_object(sites);

	if (object == NULL || object->sites == NULL)
		return (struct site_table){NULL, 0};
	return (struct site_table){object->sites, (size_t)(object->sites_end - object->sites)};
}

/* The site of a slot that runs; NULL if there is none. */
static const struct probe_site *
formulas_site(const struct formula_sites *sites, unsigned slot)
{
	const struct slots_object *object = formula_sites_object(sites);
	struct site_table table = formulas_table(sites);

	if (object == NULL)
		return NULL;
	return site_table_find(&table, object->slots[slot].semaphore, site_selected() == SITE_FAST);
}

/* The formula has the name that its slot has in the file, as in the notes: a firing must not have two names. */
static void
describe_formula(struct description *description, const struct formula_place *place, const struct probe_site *site)
{
	char function[NAME_MAX_BYTES];
	struct dof_probe *probe;

	snprintf(function, sizeof function, SLOTS_DEFAULT_PREFIX "%02u", place->slot + 1);
	probe = description_add(description, function, place->named ? formula_name(place->formula) : function, site);
	probe->arg_count = DOF_ARGS_MAX;
	for (unsigned i = 0; i < DOF_ARGS_MAX; i++)
		description_set_argument(probe, i, formula_argument_type(place->formula, i));
}

/* Slots without a formula are left out. */
static void
describe_formulas(struct description *description, const struct formula_sites *sites)
{
	const struct formula_set *set = formula_sites_set(sites);

	description_begin(description, "netobs");
	description_set_stability(description);
	for (unsigned i = 0; set != NULL && i < formula_set_count(set); i++) {
		struct formula_place place = formula_set_place(set, i);
		const struct probe_site *site = place.slot != FORMULA_NO_SLOT ? formulas_site(sites, place.slot) : NULL;

		if (site != NULL)
			describe_formula(description, &place, site);
	}
}

/* ----------------------------------------------------------------------------------------------------- dtprobed */

static void
dtrace_set(struct dtrace *dtrace, enum dof which, const char *module, const struct description *description)
{
	static const char *const names[] = {
	    [DOF_NETOBS] = "the probes of netobs",
	    [DOF_ENGINE] = "the probes of netobs_engine",
	    [DOF_FORMULAS] = "formulas",
	};

	if (dtrace->refused || dtprobed_set(dtrace->device, &dtrace->entries[which], module, &description->provider))
		return;
	log_warning("DTrace does not list %s: dtprobed: %s; see journalctl -u dtprobed, then restart netobsd",
		    names[which], strerror(errno));
	dtrace->refused = true;
}

void
dtrace_update(struct dtrace *dtrace, const struct formula_sites *sites)
{
	struct description *description;

	if (dtrace == NULL || dtrace->refused)
		return;
	description = calloc(1, sizeof *description);
	if (description == NULL) {
		log_warning("out of memory: DTrace does not list the formulas by their new names");
		return;
	}
	describe_formulas(description, sites);
	dtrace_set(dtrace, DOF_FORMULAS, dtrace->formulas_module, description);
	free(description);
}

static bool
dtrace_watch_site(const struct probe_site *site)
{
	return site == NULL || site_watch_add(site);
}

static void
dtrace_watch(const struct formula_sites *sites)
{
	struct site_table table = site_table_of_program();
	bool all = true;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		all &= dtrace_watch_site(site_table_find(&table, semaphores_of(i), site_selected() == SITE_FAST));
	for (size_t i = 0; i < engine_probe_count; i++)
		all &= dtrace_watch_site(site_table_find(&table, engine_probes[i].semaphore, false));
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		all &= dtrace_watch_site(formulas_site(sites, i));
	if (!all)
		log_warning("too many sites: DTrace enables only a part of the probes");
}

static void
dtrace_set_module(char module[DTPROBED_MODULE_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(module, DTPROBED_MODULE_MAX, "%s", slash != NULL ? slash + 1 : path);
}

/* The modules as DTrace names them if it reads the notes of the same sites. */
static void
dtrace_find_modules(struct dtrace *dtrace, const struct formula_sites *sites)
{
	const struct formula_set *set = formula_sites_set(sites);
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	path[length > 0 ? length : 0] = '\0';
	dtrace_set_module(dtrace->module, path);
	if (set != NULL && formula_set_path(set) != NULL)
		dtrace_set_module(dtrace->formulas_module, formula_set_path(set));
}

static void
dtrace_add_all(struct dtrace *dtrace, struct description *description, const struct formula_sites *sites)
{
	describe_netobs(description);
	dtrace_set(dtrace, DOF_NETOBS, dtrace->module, description);
	describe_engine(description);
	dtrace_set(dtrace, DOF_ENGINE, dtrace->module, description);
	describe_formulas(description, sites);
	dtrace_set(dtrace, DOF_FORMULAS, dtrace->formulas_module, description);
	dtrace_watch(sites);
}

static bool
dtrace_allocate(struct dtrace *dtrace)
{
	for (unsigned i = 0; i < DOFS; i++)
		if (!dtprobed_entry_open(&dtrace->entries[i]))
			return false;
	return true;
}

static void
dtrace_free(struct dtrace *dtrace)
{
	for (unsigned i = 0; dtrace != NULL && i < DOFS; i++)
		dtprobed_entry_close(&dtrace->entries[i]);
	free(dtrace);
}

/* Opens the device; a machine without DTrace has no such device. */
static int
dtrace_open_device(void)
{
	int device = dtprobed_open();
	bool ended = device < 0 && (errno == ENODEV || errno == ENXIO);

	if (device < 0 && errno != ENOENT)
		log_warning("DTrace does not list the probes: %s: %s%s", DTPROBED_DEVICE, strerror(errno),
			    ended ? "; start dtprobed, then restart netobsd"
				  : unit_clause("DeviceAllow= of the unit may forbid it"));
	return device;
}

struct dtrace *
dtrace_open(const struct formula_sites *sites)
{
	int device = site_table_of_program().count > 0 ? dtrace_open_device() : -1;
	struct description *description;
	struct dtrace *dtrace;

	if (device < 0)
		return NULL;
	dtrace = calloc(1, sizeof *dtrace);
	description = calloc(1, sizeof *description);
	if (dtrace == NULL || description == NULL || !dtrace_allocate(dtrace)) {
		log_warning("DTrace does not list the probes: %s", strerror(errno));
		dtrace_free(dtrace);
		free(description);
		close(device);
		return NULL;
	}
	dtrace->device = device;
	dtrace_name_types();
	dtrace_find_modules(dtrace, sites);
	dtrace_add_all(dtrace, description, sites);
	free(description);
	return dtrace;
}

bool
dtrace_is_listed(const struct dtrace *dtrace)
{
	return dtrace != NULL && !dtrace->refused;
}

void
dtrace_close(struct dtrace *dtrace)
{
	if (dtrace == NULL)
		return;
	site_watch_end();
	for (unsigned i = 0; i < DOFS; i++)
		dtprobed_remove(dtrace->device, &dtrace->entries[i]);
	close(dtrace->device);
	dtrace_free(dtrace);
}
