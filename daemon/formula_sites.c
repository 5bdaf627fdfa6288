/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/formula_sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/formula_names.h"
#include "confine/privileges.h"
#include "flight/ring.h"
#include "formulas/formula_set.h"
#include "formulas/slots/slots.h"
#include "probes/firing.h"
#include "probes/site/semaphores.h"

bool
install_formulas(const struct config *config, const char *path, char error[INSTALL_ERROR_MAX])
{
	char names[FORMULAS_MAX][FORMULA_NAME_MAX + 1];
	const char *wanted[FORMULAS_MAX];
	struct privileges plan;
	size_t count = 0;

	if (!privileges_plan(config, &plan)) {
		snprintf(error, INSTALL_ERROR_MAX, "there is no such user");
		return false;
	}
	for (; count < FORMULAS_MAX && config->formulas[count] != NULL; count++) {
		formula_names_of_definition(config->formulas[count], names[count]);
		wanted[count] = names[count];
	}
	return slots_install(path, wanted, count, plan.change ? plan.gid : (gid_t)-1, error);
}

struct formula_sites {
	const struct config *config;
	struct formula_set *set; /* NULL: there are no formulas, nor can any be defined */
	struct slots *slots;	 /* NULL: no formula can be traced */
	struct slot_names names; /* in the file, when it was last read */
};

/* Attempts to read the names while another process writes them. */
#define READ_ATTEMPTS 8

/* For semaphores_sum(), which has no context. */
static const struct formula_set *traced_set;

static unsigned
formula_sites_count_tracers(void)
{
	return traced_set != NULL ? formula_set_tracers(traced_set) : 0;
}

/* ------------------------------------------------------------------------------------------------------- the slots */

/* The slot that has the formula's name in the file, else a free one with a default name, which it may be given.  A
 * formula without a slot cannot be traced. */
static unsigned
sites_choose_slot(struct formula_sites *sites, const char *name)
{
	if (sites->slots == NULL)
		return FORMULA_NO_SLOT;
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (strcmp(sites->names.of[i], name) == 0 && formula_set_slot_is_unused(sites->set, i))
			return i;
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (sites->names.of[i][0] == '\0' && formula_set_slot_is_free(sites->set, i))
			return i;
	return FORMULA_NO_SLOT;
}

/* Reads the names again: another process may have written them, or be writing them, so that they look damaged. */
void
formula_sites_read_names(struct formula_sites *sites)
{
	char error[SLOT_ERROR_MAX];

	if (sites->slots == NULL)
		return;
	for (unsigned i = 0; i < READ_ATTEMPTS; i++)
		if (slots_current_names(sites->slots, &sites->names, error))
			return;
	log_warning("the names of formulas cannot be read: %s", error);
}

/* Writes the name of a formula into a file of this process. */
static void
sites_write_name(struct formula_sites *sites, unsigned slot, const char *name)
{
	char error[SLOT_ERROR_MAX], site[32];

	if (slots_write_name(slots_path(sites->slots), slot, name, error)) {
		snprintf(sites->names.of[slot], sizeof sites->names.of[slot], "%s", name);
		return;
	}
	snprintf(site, sizeof site, SLOTS_DEFAULT_PREFIX "%02u", slot + 1);
	log_warning("formula %s can be traced as %s only: %s", name, site, error);
}

/* Gives a formula its slot.  `writable`: this process may still write its own file. */
static void
sites_assign_slot(struct formula_sites *sites, unsigned number, bool writable)
{
	const char *name = formula_name(formula_set_status(sites->set, number).formula);
	unsigned slot = sites_choose_slot(sites, name);

	if (slot == FORMULA_NO_SLOT)
		return;
	if (writable && slots_are_private(sites->slots) && strcmp(sites->names.of[slot], name) != 0)
		sites_write_name(sites, slot, name);
	formula_set_set_slot(sites->set, number, slot, strcmp(sites->names.of[slot], name) == 0);
}

/* Brings the slot of a formula up to date with the names in the file.  The formula gets another slot if the file has
 * the name of another formula there, unless a tracer is attached. */
static void
sites_update_slot(struct formula_sites *sites, unsigned number)
{
	struct formula_status status = formula_set_status(sites->set, number);
	const char *name = formula_name(status.formula);
	const char *found = status.slot != FORMULA_NO_SLOT ? sites->names.of[status.slot] : "";
	bool named = strcmp(found, name) == 0;

	if (status.slot != FORMULA_NO_SLOT && (named || *found == '\0' || status.traced)) {
		formula_set_set_slot(sites->set, number, status.slot, named);
		return;
	}
	formula_set_set_slot(sites->set, number, FORMULA_NO_SLOT, false);
	sites_assign_slot(sites, number, false);
}

void
formula_sites_update(struct formula_sites *sites)
{
	if (sites->slots == NULL)
		return;
	for (unsigned i = 0; i < formula_set_count(sites->set); i++)
		sites_update_slot(sites, i);
}

bool
formula_sites_describe(const struct formula_sites *sites, unsigned slot, const char **name, bool *traced)
{
	if (sites->slots == NULL || slot >= SLOTS_COUNT)
		return false;
	*name = sites->names.of[slot];
	*traced = slots_semaphore(slots_object(sites->slots), slot) != 0;
	return true;
}

/* ---------------------------------------------------------------------------------------------------- the formulas */

static bool
sites_selects_printed(void *context, const char *name)
{
	const struct formula_sites *sites = context;

	return sites->config->print != PRINT_OFF && formula_names_select(sites->config->print_probes, name);
}

static bool
sites_add(struct formula_sites *sites, const char *text, enum formula_origin origin, char *error, size_t size)
{
	struct formula_error mistake;
	struct formula *formula = formula_compile(text, &mistake);

	if (formula == NULL) {
		snprintf(error, size, "column %u: %s", mistake.column, mistake.message);
		return false;
	}
	if (!formula_set_add(sites->set, formula, origin, error, size)) {
		formula_free(formula);
		return false;
	}
	if (sites->slots != NULL)
		sites_assign_slot(sites, formula_set_count(sites->set) - 1, false);
	formula_set_select_printed(sites->set, sites_selects_printed, sites);
	formula_set_poll(sites->set); /* a counted formula reads the next batch of frames already */
	return true;
}

static void
sites_add_configured(struct formula_sites *sites, const char *text)
{
	char error[512];

	if (!sites_add(sites, text, FORMULA_OF_CONFIG, error, sizeof error))
		log_warning("formula \"%.60s\" is not defined: %s", text, error);
}

static bool
config_defines(const struct config *config, const char *text)
{
	for (size_t i = 0; config->formulas[i] != NULL; i++)
		if (strcmp(config->formulas[i], text) == 0)
			return true;
	return false;
}

static bool
sites_defines(const struct formula_sites *sites, const char *text)
{
	for (unsigned i = 0; i < formula_set_count(sites->set); i++)
		if (strcmp(formula_text(formula_set_status(sites->set, i).formula), text) == 0)
			return true;
	return false;
}

void
formula_sites_reload(struct formula_sites *sites, const struct config *fresh)
{
	if (sites->set == NULL) {
		if (fresh->formulas[0] != NULL)
			log_warning("formulas can be defined after a restart of netobsd only: there were none");
		return;
	}
	for (unsigned i = formula_set_count(sites->set); i-- > 0;) {
		struct formula_status status = formula_set_status(sites->set, i);

		if (status.origin == FORMULA_OF_CONFIG && !config_defines(fresh, formula_text(status.formula)))
			formula_set_remove(sites->set, formula_name(status.formula));
	}
	formula_sites_read_names(sites);
	for (size_t i = 0; fresh->formulas[i] != NULL; i++)
		if (!sites_defines(sites, fresh->formulas[i]))
			sites_add_configured(sites, fresh->formulas[i]);
}

bool
formula_sites_define(struct formula_sites *sites, const char *text, char *error, size_t size)
{
	formula_sites_read_names(sites);
	return sites_add(sites, text, FORMULA_OF_REQUEST, error, size);
}

bool
formula_sites_undefine(struct formula_sites *sites, const char *name)
{
	return formula_set_remove(sites->set, name);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

/* Opens the configured file.  A netobsd of root makes it first; one of another user uses what root has made. */
static bool
sites_open_file(struct formula_sites *sites, char error[SLOT_ERROR_MAX])
{
	const char *path = sites->config->formula_file;

	if (geteuid() == 0 && !install_formulas(sites->config, path, error))
		return false;
	sites->slots = slots_open(path, error);
	return sites->slots != NULL;
}

static void
sites_open_slots(struct formula_sites *sites)
{
	char error[SLOT_ERROR_MAX] = "";

	if (sites->config->formula_file != NULL && !sites_open_file(sites, error))
		log_warning("formulas have a temporary file: %s", error);
	if (sites->slots == NULL)
		sites->slots = slots_open(NULL, error);
	if (sites->slots == NULL)
		log_warning("formulas cannot be traced, only counted and printed: %s", error);
}

struct formula_sites *
formula_sites_open(const struct config *config)
{
	struct formula_sites *sites = calloc(1, sizeof *sites);

	if (sites == NULL) {
		log_out_of_memory();
		return NULL;
	}
	sites->config = config;
	if (config->formulas[0] == NULL && config->control_path == NULL && config->writes[0] == NULL)
		return sites;
	sites->set = formula_set_new(workers_count_for(config));
	if (sites->set == NULL) {
		log_out_of_memory();
		free(sites);
		return NULL;
	}
	for (size_t i = 0; config->formulas[i] != NULL; i++)
		sites_add_configured(sites, config->formulas[i]);
	traced_set = sites->set;
	semaphores_further = formula_sites_count_tracers;
	sites_open_slots(sites);
	if (sites->slots == NULL)
		return sites;
	formula_sites_read_names(sites);
	formula_set_set_slots(sites->set, slots_object(sites->slots), slots_path(sites->slots));
	for (unsigned i = 0; i < formula_set_count(sites->set); i++)
		sites_assign_slot(sites, i, true);
	return sites;
}

/* A match on a packet is a note of the frame in progress; a timer has no frame. */
static void
sites_note_match(void *ring, const struct formula_match *match)
{
	char text[RING_COMMENT_MAX];

	if (!firing_is_of_packet(match->firing))
		return;
	formula_describe_match(match->formula, match->firing, text, sizeof text);
	ring_add_text(ring, match->cid, text);
}

void
formula_sites_connect(struct formula_sites *sites, struct workers *workers)
{
	workers->formulas = sites->set;
	if (sites->set == NULL)
		return;
	for (unsigned i = 0; i < workers->count; i++) {
		struct worker *worker = &workers->worker[i];

		if (worker->ring != NULL)
			formula_set_set_match_handler(sites->set, i, sites_note_match, worker->ring);
		observer_set_listener(worker->observer, formula_set_connect(sites->set, i, worker->printer),
				      formula_set_part(sites->set, i));
	}
}

struct formula_set *
formula_sites_set(const struct formula_sites *sites)
{
	return sites != NULL ? sites->set : NULL;
}

const struct slots_object *
formula_sites_object(const struct formula_sites *sites)
{
	return sites->slots != NULL ? slots_object(sites->slots) : NULL;
}

void
formula_sites_free(struct formula_sites *sites)
{
	if (sites == NULL)
		return;
	semaphores_further = NULL;
	traced_set = NULL;
	formula_set_free(sites->set);
	slots_close(sites->slots);
	free(sites);
}
