/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_fields.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formulas/formula.h"
#include "probes/nearest.h"

/* Bytes of "cr_", with which every field's name begins. */
#define PREFIX_LENGTH 3

static const struct struct_info *
record_struct(void)
{
	return &manifest_structs[STRUCT_CONNREC];
}

const char *
record_field_short_name(const struct field_info *field)
{
	return field->name + PREFIX_LENGTH;
}

static bool
record_field_has_name(const struct field_info *field, const char *name, size_t length)
{
	const char *brief = record_field_short_name(field);

	return (strlen(field->name) == length && memcmp(field->name, name, length) == 0) ||
	       (strlen(brief) == length && memcmp(brief, name, length) == 0);
}

/* Titles of the table's columns that differ from the names of their fields; in small letters. */
static const struct {
	const char *title, *field;
} record_titles[] = {
    {"time", "duration_us"},	 {"prot", "protostr"},	       {"sent", "client_bytes"}, {"recvd", "server_bytes"},
    {"resent", "client_resent"}, {"answer", "answer_mean_us"}, {"max", "answer_max_us"},
};

/* The field of which the name is the title of a column, in capital or small letters; NULL: of no field. */
static const char *
record_fields_find_title(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof record_titles / sizeof record_titles[0]; i++)
		if (strlen(record_titles[i].title) == length && strncasecmp(record_titles[i].title, name, length) == 0)
			return record_titles[i].field;
	for (size_t i = 0; i < record_struct()->field_count; i++) {
		const char *brief = record_field_short_name(&record_struct()->fields[i]);

		if (strlen(brief) == length && strncasecmp(brief, name, length) == 0)
			return brief;
	}
	return NULL;
}

static void
record_fields_explain(const char *name, size_t length, char error[RECORD_ERROR_MAX])
{
	struct nearest nearest;
	char hint[NEAREST_HINT_MAX];

	nearest_begin(&nearest, name, length);
	for (size_t i = 0; i < record_struct()->field_count; i++) {
		nearest_consider(&nearest, record_field_short_name(&record_struct()->fields[i]));
		nearest_consider(&nearest, record_struct()->fields[i].name);
	}
	if (record_fields_find_title(name, length) != NULL)
		nearest.found = record_fields_find_title(name, length);
	if (length == 0)
		snprintf(error, RECORD_ERROR_MAX, "the name of a field is missing");
	else
		snprintf(error, RECORD_ERROR_MAX,
			 "records have no field %.*s%s; netobsd --list-probes lists them with connrec_t",
			 length < NEAREST_WORD_MAX ? (int)length : NEAREST_WORD_MAX, name,
			 nearest_hint(&nearest, "", hint));
}

const struct field_info *
record_fields_find(const char *name, size_t length, char error[RECORD_ERROR_MAX])
{
	for (size_t i = 0; i < record_struct()->field_count; i++)
		if (record_field_has_name(&record_struct()->fields[i], name, length))
			return &record_struct()->fields[i];
	record_fields_explain(name, length, error);
	return NULL;
}

bool
record_fields_parse(const char *list, struct record_fields *to, char error[RECORD_ERROR_MAX])
{
	to->count = 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		const struct field_info *field = record_fields_find(list, length, error);

		if (field == NULL)
			return false;
		for (unsigned i = 0; i < to->count; i++)
			if (to->fields[i] == field) {
				snprintf(error, RECORD_ERROR_MAX, "%s is chosen twice", field->name);
				return false;
			}
		assert(to->count < RECORD_FIELDS_MAX); /* there are not so many */
		to->fields[to->count++] = field;
		if (list[length] == '\0')
			return true;
		list += length + 1;
	}
}

/* Whether the value of a field differs from run to run. */
static bool
record_field_is_of_run(const struct field_info *field)
{
	static const char *const of_run[] = {"cr_client_cid", "cr_server_cid", "cr_seq"};

	for (size_t i = 0; i < sizeof of_run / sizeof of_run[0]; i++)
		if (strcmp(field->name, of_run[i]) == 0)
			return true;
	return false;
}

void
record_fields_set_all(struct record_fields *to)
{
	to->count = 0;
	for (size_t i = 0; i < record_struct()->field_count && to->count < RECORD_FIELDS_MAX; i++)
		if (!record_field_is_of_run(&record_struct()->fields[i]))
			to->fields[to->count++] = &record_struct()->fields[i];
}

bool
record_field_is_time(const struct field_info *field)
{
	return field->unit == UNIT_NS;
}

bool
record_order_parse(const char *text, struct record_order *to, char error[RECORD_ERROR_MAX])
{
	bool reversed = *text == '-';

	text += reversed;
	to->field = record_fields_find(text, strlen(text), error);
	if (to->field == NULL)
		return false;
	to->descending = (to->field->kind != FIELD_TEXT && !record_field_is_time(to->field)) != reversed;
	return true;
}

/* Reads a value of a struct at any type. */
#define READ_AS(type, from) (*(const type *)(const void *)(from))

uint64_t
record_field_rank(const struct field_info *field, const void *record)
{
	const char *from = (const char *)record + field->offset;
	bool is_signed = field->kind == FIELD_SIGNED;

	switch (field->size) {
	case 1:
		return is_signed ? (uint64_t)READ_AS(int8_t, from) ^ (UINT64_C(1) << 63) : READ_AS(uint8_t, from);
	case 2:
		return READ_AS(uint16_t, from);
	case 4:
		return is_signed ? (uint64_t)READ_AS(int32_t, from) ^ (UINT64_C(1) << 63) : READ_AS(uint32_t, from);
	default:
		return is_signed ? (uint64_t)READ_AS(int64_t, from) ^ (UINT64_C(1) << 63) : READ_AS(uint64_t, from);
	}
}

/* Makes a definition of an expression. */
static const char definition[] = "records = connection-end where ";
#define DEFINITION_LENGTH (sizeof definition - 1)

struct record_filter {
	struct formula *formula;
};

/* Positions of a mistake are those in the user's text. */
static void
record_filter_explain(const struct formula_error *mistake, bool one_line, char error[RECORD_ERROR_MAX])
{
	unsigned column = mistake->column;

	if (mistake->line == 1)
		column = column > DEFINITION_LENGTH ? column - (unsigned)DEFINITION_LENGTH : 1;
	if (one_line)
		snprintf(error, RECORD_ERROR_MAX, "column %u: %.200s", column, mistake->message);
	else
		snprintf(error, RECORD_ERROR_MAX, "line %u, column %u: %.200s", mistake->line, column,
			 mistake->message);
}

static struct formula *
record_filter_compile_formula(const char *expression, char error[RECORD_ERROR_MAX])
{
	char text[FORMULA_TEXT_MAX + 1];
	struct formula_error mistake;
	struct formula *formula;

	if (expression[strspn(expression, " \t\r\n")] == '\0') {
		snprintf(error, RECORD_ERROR_MAX, "the expression is empty");
		return NULL;
	}
	if (strlen(expression) + DEFINITION_LENGTH > FORMULA_TEXT_MAX) {
		snprintf(error, RECORD_ERROR_MAX, "the expression is longer than %zu bytes",
			 (size_t)FORMULA_TEXT_MAX - DEFINITION_LENGTH);
		return NULL;
	}
	snprintf(text, sizeof text, "%s%s", definition, expression);
	formula = formula_compile(text, &mistake);
	if (formula == NULL)
		record_filter_explain(&mistake, strchr(expression, '\n') == NULL, error);
	return formula;
}

struct record_filter *
record_filter_compile(const char *expression, char error[RECORD_ERROR_MAX])
{
	struct record_filter *filter;
	struct formula *formula = record_filter_compile_formula(expression, error);

	if (formula == NULL)
		return NULL;
	filter = formula_has_threshold(formula) ? NULL : malloc(sizeof *filter);
	if (filter == NULL) {
		snprintf(error, RECORD_ERROR_MAX, "%s",
			 formula_has_threshold(formula) ? "a threshold (N times in DURATION) selects no records"
							: "out of memory");
		formula_free(formula);
		return NULL;
	}
	filter->formula = formula;
	return filter;
}

void
record_filter_free(struct record_filter *filter)
{
	if (filter == NULL)
		return;
	formula_free(filter->formula);
	free(filter);
}

bool
record_filter_selects(const struct record_filter *filter, const struct connrec *record)
{
	struct firing firing = {.probe = PROBE_CONNECTION_END, .built = 1, .args = {record}, .ts = record->cr_end};

	return formula_is_true(filter->formula, &firing);
}
