/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/site_names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "formulas/slots/slots.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

/* The first update may free the slot for a formula that has no slot; the second one then names it.  Other editors may
 * change the names meanwhile. */
#define UPDATES_MAX 4

#define SITES_REPLY_MAX (JSON_BYTE_MAX * PATH_MAX + (SLOTS_COUNT + 2) * 256)

/* The reply to "sites": what netobsd knows of the slots. */
struct site_list {
	char path[PATH_MAX]; /* "" if there is no file */
	struct slot_names formulas, names;
	bool traced[SLOTS_COUNT];
};

/* -------------------------------------------------------------------------------------------------------- the reply */

static void
site_list_set_name(char to[FORMULA_NAME_MAX + 1], const char *name)
{
	if (name != NULL)
		snprintf(to, FORMULA_NAME_MAX + 1, "%s", name);
}

/* Adds an object: the file, or a slot; whatever else later versions add is skipped. */
static bool
site_list_add(struct site_list *list, const json_t *object)
{
	const char *path = json_read_string(object, "file");
	const char *name = json_read_string(object, "name");
	char unnamed[sizeof "formula-01"];
	uint64_t slot;

	if (path != NULL && path[0] == '/')
		snprintf(list->path, sizeof list->path, "%s", path);
	if (!json_read_unsigned(object, "slot", &slot) || slot < 1 || slot > SLOTS_COUNT)
		return true;
	site_list_set_name(list->formulas.of[slot - 1], json_read_string(object, "formula"));
	snprintf(unnamed, sizeof unnamed, "formula-%02u", (unsigned)slot);
	if (name != NULL && strcmp(name, unnamed) != 0)
		site_list_set_name(list->names.of[slot - 1], name);
	return json_read_bool(object, "traced", &list->traced[slot - 1]);
}

static bool
site_list_read(struct site_list *list, const char *socket, char error[SLOT_ERROR_MAX])
{
	json_t *lines = client_read_array(socket, "sites\n", SITES_REPLY_MAX, error, SLOT_ERROR_MAX);
	bool good = lines != NULL;

	memset(list, 0, sizeof *list);
	for (size_t i = 0; good && i < json_array_size(lines); i++)
		good = site_list_add(list, json_array_get(lines, i));
	if (lines != NULL && !good)
		snprintf(error, SLOT_ERROR_MAX, "a slot of the reply is not described");
	json_decref(lines);
	return good;
}

/* -------------------------------------------------------------------------------------------------------- the names */

static bool
site_names_have(const struct slot_names *names, const char *name, unsigned *slot)
{
	for (*slot = 0; *slot < SLOTS_COUNT; ++*slot)
		if (strcmp(names->of[*slot], name) == 0)
			return true;
	return false;
}

/* The names that the slots should have instead of `before`: true if there is a difference. */
static bool
site_names_choose(const struct site_list *list, const struct slot_names *before, struct slot_names *names)
{
	unsigned other;

	memset(names, 0, sizeof *names);
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (list->traced[i])
			memcpy(names->of[i], before->of[i], sizeof names->of[i]);
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (!list->traced[i] && !site_names_have(names, list->formulas.of[i], &other))
			memcpy(names->of[i], list->formulas.of[i], sizeof names->of[i]);
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (strcmp(names->of[i], before->of[i]) != 0)
			return true;
	return false;
}

/* Writes the names; reads the list again, because it may have changed before the file was locked. */
static bool
site_names_write(const char *socket, const struct site_list *known, char error[SLOT_ERROR_MAX])
{
	struct slot_editor *editor = slot_editor_open(known->path, error);
	struct slot_names names;
	struct site_list list;
	bool done;

	if (editor == NULL)
		return false;
	done = site_list_read(&list, socket, error);
	if (done && strcmp(list.path, known->path) != 0) {
		snprintf(error, SLOT_ERROR_MAX, "netobsd has started again");
		done = false;
	}
	if (done && site_names_choose(&list, slot_editor_names(editor), &names))
		done = slot_editor_write(editor, &names, error);
	slot_editor_close(editor);
	return done;
}

/* ----------------------------------------------------------------------------------------------------- the result */

/* Checks the name of a formula that exists; `reason` is why the update failed, "" if it did not. */
static bool
site_names_check_defined(const struct site_list *list, const char *name, const char *reason,
			 char error[SITE_NAMES_ERROR_MAX])
{
	const char *because = reason[0] != '\0' ? reason : "a tracer is attached there";
	const char *cure = reason[0] != '\0' && geteuid() != 0 ? "; run netobsctl as root" : "";
	unsigned slot;

	if (list->path[0] == '\0')
		snprintf(error, SITE_NAMES_ERROR_MAX, "%s cannot be traced: netobsd has logged why", name);
	else if (!site_names_have(&list->formulas, name, &slot))
		snprintf(error, SITE_NAMES_ERROR_MAX, "%s cannot be traced: no slot is free", name);
	else if (strcmp(list->names.of[slot], name) != 0)
		snprintf(error, SITE_NAMES_ERROR_MAX, "tracers see %s as " SLOTS_DEFAULT_PREFIX "%02u: %s%s",
			 name, slot + 1, because, cure);
	else
		return true;
	return false;
}

/* Checks that a formula that does not exist has no name. */
static bool
site_names_check_undefined(const struct site_list *list, const char *name, const char *reason,
			   char error[SITE_NAMES_ERROR_MAX])
{
	unsigned slot, other;

	if (!site_names_have(&list->names, name, &slot) || site_names_have(&list->formulas, name, &other))
		return true;
	snprintf(error, SITE_NAMES_ERROR_MAX, "tracers still see the name %s: %s", name,
		 list->traced[slot] ? "a tracer is attached there" : reason);
	return list->traced[slot];
}

bool
site_names_update(const char *socket, const char *name, bool defined, char error[SITE_NAMES_ERROR_MAX])
{
	char reason[SLOT_ERROR_MAX] = "";
	struct slot_names names;
	struct site_list list;
	bool outdated = true;

	for (unsigned i = 0; i < UPDATES_MAX; i++) {
		if (!site_list_read(&list, socket, reason)) {
			snprintf(error, SITE_NAMES_ERROR_MAX, "the names of formulas for tracers: %s", reason);
			return false;
		}
		outdated = list.path[0] != '\0' && site_names_choose(&list, &list.names, &names);
		if (!outdated || reason[0] != '\0')
			break;
		if (i == UPDATES_MAX - 1)
			snprintf(reason, sizeof reason, "other requests change the formulas; try again");
		else
			site_names_write(socket, &list, reason);
	}
	if (name != NULL)
		return (defined ? site_names_check_defined : site_names_check_undefined)(&list, name, reason, error);
	if (outdated)
		snprintf(error, SITE_NAMES_ERROR_MAX, "the names of formulas for tracers: %s", reason);
	return !outdated;
}
