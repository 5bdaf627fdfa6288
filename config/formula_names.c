/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/formula_names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "formulas/formula_set.h"
#include "probes/manifest.h"
#include "probes/nearest.h"

/* Longest word of a list; longer ones select nothing. */
#define WORD_MAX 256

/* Copies the first word of a list; returns the list after it, NULL at its end. */
static const char *
list_take_word(const char *list, char word[WORD_MAX], size_t *length)
{
	*length = strcspn(list, ",");
	snprintf(word, WORD_MAX, "%.*s", *length < WORD_MAX ? (int)*length : 0, list);
	return list[*length] == ',' ? list + *length + 1 : NULL;
}

bool
formula_names_select(const char *list, const char *name)
{
	char word[WORD_MAX];
	size_t length;

	if (list == NULL || *list == '\0')
		return true;
	while (list != NULL) {
		list = list_take_word(list, word, &length);
		if (fnmatch(word, name, 0) == 0)
			return true;
	}
	return false;
}

/* The definition has been compiled once, so that its name is valid. */
void
formula_names_of_definition(const char *text, char name[FORMULA_NAME_MAX + 1])
{
	size_t blanks = strspn(text, " \t\r\n");

	snprintf(name, FORMULA_NAME_MAX + 1, "%.*s",
		 (int)strspn(text + blanks, "abcdefghijklmnopqrstuvwxyz0123456789-"), text + blanks);
}

static bool
word_selects_formula(const struct config *config, const char *word)
{
	char name[FORMULA_NAME_MAX + 1];

	for (size_t i = 0; config->formulas[i] != NULL; i++) {
		formula_names_of_definition(config->formulas[i], name);
		if (fnmatch(word, name, 0) == 0)
			return true;
	}
	return false;
}

bool
formula_names_select_probes(const struct config *config, const char *list, bool selected[PROBE_COUNT],
			    const char **unknown, size_t *length)
{
	bool of_word[PROBE_COUNT];
	char word[WORD_MAX];

	if (list == NULL || *list == '\0')
		return manifest_select_probes(list, selected, unknown, length);
	memset(selected, false, PROBE_COUNT * sizeof selected[0]);
	while (list != NULL) {
		const char *in_word;
		size_t ignored;

		*unknown = list;
		list = list_take_word(list, word, length);
		if (*word != '\0' && manifest_select_probes(word, of_word, &in_word, &ignored)) {
			for (unsigned i = 0; i < PROBE_COUNT; i++)
				selected[i] |= of_word[i];
		} else if (!word_selects_formula(config, word)) {
			return false;
		}
	}
	return true;
}

const char *
formula_names_hint(const struct config *config, const char *name, size_t length, char hint[NEAREST_HINT_MAX])
{
	char names[FORMULAS_MAX][FORMULA_NAME_MAX + 1];
	struct nearest nearest;

	nearest_begin(&nearest, name, length);
	for (size_t i = 0; i < FORMULAS_MAX && config->formulas[i] != NULL; i++) {
		formula_names_of_definition(config->formulas[i], names[i]);
		nearest_consider(&nearest, names[i]);
	}
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		nearest_consider(&nearest, manifest_probes[i].name);
	return nearest_hint(&nearest, "", hint);
}

/* Whether `name`, of `length` bytes, is this one. */
static bool
name_equals(const char *candidate, const char *name, size_t length)
{
	return strlen(candidate) == length && strncmp(candidate, name, length) == 0;
}

bool
formula_names_check_one(const struct config *config, const char *name, size_t length, char *error, size_t size)
{
	char formula[FORMULA_NAME_MAX + 1], hint[NEAREST_HINT_MAX];

	for (size_t i = 0; config->formulas[i] != NULL; i++) {
		formula_names_of_definition(config->formulas[i], formula);
		if (name_equals(formula, name, length))
			return true;
	}
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (name_equals(manifest_probes[i].name, name, length))
			return true;
	snprintf(error, size, "there is no formula or probe \"%.*s\"%s", length < 60 ? (int)length : 60, name,
		 formula_names_hint(config, name, length, hint));
	return false;
}

bool
formula_names_check(const struct config *config, char *error, size_t size)
{
	char name[FORMULA_NAME_MAX + 1], other[FORMULA_NAME_MAX + 1];
	size_t count = 0;

	for (; config->formulas[count] != NULL; count++) {
		formula_names_of_definition(config->formulas[count], name);
		for (size_t i = 0; i < count; i++) {
			formula_names_of_definition(config->formulas[i], other);
			if (strcmp(name, other) == 0) {
				snprintf(error, size, "%s is defined twice", name);
				return false;
			}
		}
	}
	if (count <= FORMULAS_MAX)
		return true;
	snprintf(error, size, "%zu formulas are defined; there can be %d", count, FORMULAS_MAX);
	return false;
}
