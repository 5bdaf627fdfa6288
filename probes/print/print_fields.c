/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/print/print_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "probes/manifest.h"
#include "probes/nearest.h"
#include "probes/print/print_internal.h"

/* What is printed for a word of the list. */
enum column_kind {
	COLUMN_FIELD,
	COLUMN_PROBE,
	COLUMN_OF,
};

struct column {
	enum column_kind kind;
	char key[PRINT_FIELDS_WORD_MAX];
};

/* The place of a field in the arguments of a probe; size 0: the probe does not have it. */
struct column_place {
	uint8_t position;
	uint8_t operation; /* enum json_operation */
	uint16_t offset, size;
};

struct print_fields {
	unsigned count;
	bool omit_missing;
	struct column columns[PRINT_FIELDS_MAX];
	struct column_place (*places)[PRINT_FIELDS_MAX]; /* by probe */
};

/* --------------------------------------------------------------------------------------------------------- the list */

/* Whether the first `length` bytes of `word` name an argument: its name or its type. */
static bool
argument_has_name(const struct argument_info *argument, const char *word, size_t length)
{
	size_t type = strlen(argument->type->name);

	if (strlen(argument->name) == length && strncmp(argument->name, word, length) == 0)
		return true;
	return strncmp(argument->type->name, word, type < length ? type : length) == 0 &&
	       (length == type || (length == type + 2 && strncmp(word + type, "_t", 2) == 0));
}

/* Finds a field in a probe; false if the probe does not have it. */
static bool
column_find_field(const struct probe_info *probe, const char *word, struct column_place *place)
{
	const char *dot = strchr(word, '.');

	for (unsigned i = 0; i < probe->arg_count; i++) {
		const struct argument_info *argument = &probe->args[i];
		const struct field_info *field;

		if (argument->type == NULL || (dot != NULL && !argument_has_name(argument, word, (size_t)(dot - word))))
			continue;
		field = manifest_find_field(argument->type, dot != NULL ? dot + 1 : word);
		if (field == NULL || field->kind == FIELD_POINTER)
			continue;
		*place = (struct column_place){.position = (uint8_t)i,
					       .operation = (uint8_t)json_field_operation(field),
					       .offset = (uint16_t)field->offset,
					       .size = (uint16_t)field->size};
		return true;
	}
	return false;
}

/* Words for what probes have in different structs: the first of these fields that a probe has. */
static const struct {
	const char *word, *fields[3];
} column_common[] = {
    {"cid", {"cs_cid", "ci_cid", "cr_client_cid"}},
    {"ts", {"cs_ts", "ci_ts", "cr_end"}},
};

/* Finds the field of a word in a probe; false if the probe does not have it. */
static bool
column_find_place(const struct probe_info *probe, const char *word, struct column_place *place)
{
	for (size_t i = 0; i < sizeof column_common / sizeof column_common[0]; i++) {
		if (strcmp(word, column_common[i].word) != 0)
			continue;
		for (size_t j = 0; j < sizeof column_common[i].fields / sizeof column_common[i].fields[0]; j++)
			if (column_find_field(probe, column_common[i].fields[j], place))
				return true;
		return false;
	}
	return column_find_field(probe, word, place);
}

static bool
column_fill_places(struct print_fields *fields, unsigned column, const bool selected[PROBE_COUNT])
{
	const char *word = fields->columns[column].key;
	bool found = false;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		found |= column_find_place(&manifest_probes[i], word, &fields->places[i][column]) && selected[i];
	return found;
}

/* The word is not a field of the selected probes: the nearest one that they have. */
static void
column_fail_unknown(const char *word, const bool selected[PROBE_COUNT], char *error, size_t size)
{
	const char *dot = strchr(word, '.'), *name = dot != NULL ? dot + 1 : word;
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	nearest_begin(&nearest, name, strlen(name));
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		for (unsigned j = 0; selected[i] && j < manifest_probes[i].arg_count; j++) {
			const struct struct_info *type = manifest_probes[i].args[j].type;

			for (size_t k = 0; type != NULL && k < type->field_count; k++)
				nearest_consider(&nearest, type->fields[k].name);
		}
	snprintf(error, size, "the probes have no field \"%s\"%s", word, nearest_hint(&nearest, "", hint));
}

static bool
column_is_known(const struct print_fields *fields, const char *word)
{
	for (unsigned i = 0; i < fields->count; i++)
		if (strcmp(fields->columns[i].key, word) == 0)
			return true;
	return false;
}

static bool
fields_add_column(struct print_fields *fields, const char *word, size_t length, const bool selected[PROBE_COUNT],
		  char *error, size_t size)
{
	struct column *column = &fields->columns[fields->count];

	if (length == 0 || length >= PRINT_FIELDS_WORD_MAX) {
		snprintf(error, size, length == 0 ? "the list of fields has an empty word" : "a field has a long name");
		return false;
	}
	if (fields->count == PRINT_FIELDS_MAX) {
		snprintf(error, size, "more than %u fields", PRINT_FIELDS_MAX);
		return false;
	}
	snprintf(column->key, sizeof column->key, "%.*s", (int)length, word);
	if (column_is_known(fields, column->key)) {
		snprintf(error, size, "the field \"%s\" is given twice", column->key);
		return false;
	}
	column->kind = strcmp(column->key, "probe") == 0 ? COLUMN_PROBE
		       : strcmp(column->key, "of") == 0	 ? COLUMN_OF
							 : COLUMN_FIELD;
	if (column->kind == COLUMN_FIELD && !column_fill_places(fields, fields->count, selected)) {
		column_fail_unknown(column->key, selected, error, size);
		return false;
	}
	fields->count++;
	return true;
}

/* Most bytes of a line of a probe. */
static size_t
fields_line_max(const struct print_fields *fields, enum probe_id probe)
{
	size_t longest = 8;

	for (unsigned i = 0; i < fields->count; i++) {
		const struct column_place *place = &fields->places[probe][i];

		longest += strlen(fields->columns[i].key) + FORMAT_NUMBER_MAX + PRINT_FORMULA_MAX + 8;
		if (place->operation == JSON_TEXT || place->operation == JSON_BYTES)
			longest += (size_t)place->size * JSON_BYTE_MAX;
	}
	return longest;
}

static bool
fields_parse(struct print_fields *fields, const char *list, const bool selected[PROBE_COUNT], char *error, size_t size)
{
	for (;;) {
		size_t length = strcspn(list, ",");

		if (!fields_add_column(fields, list, length, selected, error, size))
			return false;
		if (list[length] == '\0')
			break;
		list += length + 1;
	}
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (fields_line_max(fields, (enum probe_id)i) > PRINT_LINE_MAX) {
			snprintf(error, size, "a line of these fields could have more than %u bytes: choose fewer",
				 (unsigned)PRINT_LINE_MAX);
			return false;
		}
	return true;
}

struct print_fields *
print_fields_new(const char *list, const bool selected[PROBE_COUNT], char *error, size_t size)
{
	struct print_fields *fields = calloc(1, sizeof *fields);

	if (fields != NULL)
		fields->places = calloc(PROBE_COUNT, sizeof fields->places[0]);
	if (fields == NULL || fields->places == NULL)
		snprintf(error, size, "out of memory");
	else if (fields_parse(fields, list, selected, error, size))
		return fields;
	print_fields_free(fields);
	return NULL;
}

void
print_fields_omit_missing(struct print_fields *fields)
{
	fields->omit_missing = true;
}

void
print_fields_free(struct print_fields *fields)
{
	if (fields != NULL)
		free(fields->places);
	free(fields);
}

/* --------------------------------------------------------------------------------------------------------- the line */

static char *
column_put_text(char *at, const struct column_place *place, const char *from)
{
	switch ((enum json_operation)place->operation) {
	case JSON_HEX:
		return put_hex64(at, *(const uint64_t *)(const void *)from);
	case JSON_TEXT:
		return put_plain_text(at, from, place->size);
	case JSON_BYTES:
		return put_hex_bytes(at, (const uint8_t *)from, place->size);
	default:
		return json_put_value(at, (enum json_operation)place->operation, place->size, from);
	}
}

static char *
column_put_field(char *at, const struct column_place *place, bool json, const void *const args[6])
{
	const char *from;

	if (place->size == 0 || args[place->position] == NULL)
		return json ? PUT(at, "null") : PUT(at, "-");
	from = (const char *)args[place->position] + place->offset;
	if (json)
		return json_put_value(at, (enum json_operation)place->operation, place->size, from);
	return column_put_text(at, place, from);
}

/* Whether a line of the probe leaves the column out. */
static bool
column_is_omitted(const struct print_fields *fields, unsigned column, enum probe_id id)
{
	return fields->omit_missing && fields->columns[column].kind == COLUMN_FIELD &&
	       fields->places[id][column].size == 0;
}

char *
print_fields_line(const struct print_fields *fields, enum print_format format, const char *formula, enum probe_id id,
		  const void *const args[6], char *at)
{
	bool json = format == PRINT_JSON;
	char before = '{';

	for (unsigned i = 0; i < fields->count; i++) {
		const struct column *column = &fields->columns[i];
		const char *name =
		    column->kind == COLUMN_PROBE && formula != NULL ? formula : manifest_probes[id].name;

		if (json && column_is_omitted(fields, i, id))
			continue;
		if (json)
			at = put_json_key(at, before, column->key);
		else if (i > 0)
			*at++ = '\t';
		before = ',';
		if (column->kind == COLUMN_FIELD)
			at = column_put_field(at, &fields->places[id][i], json, args);
		else
			at = json ? put_json_name(at, name) : put_string(at, name);
	}
	if (json && before == '{')
		*at++ = '{';
	if (json)
		*at++ = '}';
	*at++ = '\n';
	return at;
}
