/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions: NAME = PROBE[, PROBE...] [where EXPRESSION] [CONDITION] [counted], with one of the conditions
 *	, N times in DURATION [by FIELD, ...]
 *	, N distinct FIELD, ... in DURATION [by FIELD, ...]
 *	for DURATION by FIELD, ...
 *	, no PROBE[, PROBE...] [where EXPRESSION] within DURATION by FIELD, ...
 */
#include "formulas/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "formulas/match/pattern.h"
#include "formulas/match/pcap_test.h"
#include "formulas/syntax.h"
#include "formulas/threshold.h"
#include "probes/nearest.h"

void
formula_free(struct formula *formula)
{
	if (formula == NULL)
		return;
	while (formula->blocks != NULL) {
		struct formula_block *block = formula->blocks;

		formula->blocks = block->next;
		free(block);
	}
	formula_free(formula->until);
	pcap_test_free(formula->pcap_tests);
	free(formula);
}

/* ------------------------------------------------------------------------------------------------------------- name */

static bool
definition_is_slot_name(const char *name)
{
	static const char prefix[] = "formula-";
	size_t length = sizeof prefix - 1, digits;

	if (strncmp(name, prefix, length) != 0)
		return false;
	digits = strspn(name + length, "0123456789");
	return digits > 0 && name[length + digits] == '\0';
}

/* [a-z][a-z0-9-]*, no hyphen at the end and no two hyphens in a row, because the probe's name has "__" for each. */
static bool
definition_check_name(struct compiler *c, struct span span)
{
	const char *name = c->formula->name;
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t good = strspn(name, allowed);

	if (name[0] < 'a' || name[0] > 'z')
		return mistake_report(&c->source, span.at, "a name begins with a small letter");
	if (name[good] != '\0')
		return mistake_report(&c->source, span.at + good,
				      "a name has small letters, digits and hyphens, as slow-handshake");
	if (strstr(name, "--") != NULL || name[span.length - 1] == '-')
		return mistake_report(&c->source, span.at, "a hyphen must be between letters or digits");
	if (manifest_find_probe(name) != PROBE_COUNT || engine_has_probe(name))
		return mistake_report(&c->source, span.at, "%s is the name of a probe", name);
	if (definition_is_slot_name(name))
		return mistake_report(&c->source, span.at, "formula-N is reserved for slots without a formula");
	return true;
}

static bool
definition_parse_name(struct compiler *c)
{
	struct span span = lexer_next_probe(&c->lexer);

	if (span.length == 0)
		return mistake_report(&c->source, span.at, "a name is expected, as in: slow-handshake = tcp-send");
	if (span.length > FORMULA_NAME_MAX)
		return mistake_report(&c->source, span.at, "the name has %zu characters; %u are allowed", span.length,
				      FORMULA_NAME_MAX);
	memcpy(c->formula->name, c->source.text + span.at, span.length);
	if (!definition_check_name(c, span) || !compiler_advance(c))
		return false;
	/* The token after '=' is part of a probe: the lexer has another rule for these. */
	if (c->token.kind != TOKEN_ASSIGN)
		return compiler_fail_expected(c, "= and the probes");
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- probes */

static bool
definition_select_probes(struct compiler *c, struct span span)
{
	const char *text = c->source.text + span.at;
	char hint[NEAREST_HINT_MAX], excerpt[EXCERPT_MAX];
	struct nearest nearest;
	bool any = false;
	void *memory = formula_allocate(c->formula, pattern_size(span.length));
	const struct pattern *pattern;

	if (memory == NULL)
		return mistake_report(&c->source, span.at, "out of memory");
	pattern = pattern_prepare(memory, text, span.length);
	nearest_begin(&nearest, text, span.length);
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct probe_info *probe = &manifest_probes[i];

		if (pattern_match(pattern, probe->name, strlen(probe->name)) ||
		    pattern_match(pattern, probe->c_name, strlen(probe->c_name)))
			any = c->formula->probes[i] = true;
		nearest_consider(&nearest, probe->name);
	}
	if (any)
		return true;
	mistake_excerpt(&c->source, span, excerpt);
	if (field_is_known(c, text, span.length))
		return mistake_report(&c->source, span.at, "%s is a field: an expression comes after where", excerpt);
	if (memchr(text, '*', span.length) != NULL || memchr(text, '?', span.length) != NULL)
		return mistake_report(&c->source, span.at, "no probe matches %s", excerpt);
	return mistake_report(&c->source, span.at, "no probe is called %s%s", excerpt,
			      nearest_hint(&nearest, "", hint));
}

/* Whether a threshold begins here, or what is absent, or a mistaken "for". */
static bool
definition_at_condition(const struct compiler *c, struct span span)
{
	const char *text = c->source.text + span.at;

	return (span.length > 0 && *text >= '0' && *text <= '9') || (span.length == 2 && strncmp(text, "no", 2) == 0) ||
	       (span.length == 3 && strncmp(text, "for", 3) == 0);
}

/* PROBE[, PROBE...], up to "where", "counted", "for", a comma before a number or "no", or the end. */
static bool
definition_parse_probes(struct compiler *c)
{
	bool first = true;

	do {
		size_t before = c->lexer.at;
		struct span span = lexer_next_probe(&c->lexer);

		if (!first && definition_at_condition(c, span)) {
			c->lexer.at = before - 1; /* the comma */
			return compiler_advance(c);
		}
		if (span.length == 0)
			return mistake_report(&c->source, span.at, "a probe is expected, as tcp-connect-established");
		if (c->source.text[c->lexer.at] == ':')
			return mistake_report(&c->source, span.at,
					      "a probe stands without provider or file: tcp-send, not tcp:::send");
		if (!definition_select_probes(c, span) || !compiler_advance(c))
			return false;
		first = false;
	} while (c->token.kind == TOKEN_COMMA);
	return true;
}

/* -------------------------------------------------------------------------------------------------------- threshold */

/* FIELD[, FIELD...]; `word` stands before them. */
static bool
definition_parse_fields(struct compiler *c, const char *word, struct field_list *list, unsigned uses[FIELD_LIST_MAX])
{
	const struct field_info *field;

	if (c->token.kind == TOKEN_OPEN)
		return mistake_report(&c->source, c->token.span.at, "fields after %s have no parentheses", word);
	do {
		size_t at = c->token.span.at;

		if (list->count > 0 && !compiler_advance(c))
			return false;
		if (list->count == FIELD_LIST_MAX)
			return mistake_report(&c->source, at, "at most %u fields after %s", FIELD_LIST_MAX, word);
		if (!expression_parse_field(c, &uses[list->count]))
			return false;
		field = c->uses[uses[list->count]].field;
		if (field->kind == FIELD_POINTER)
			return mistake_report(&c->source, at, "%s is an address in netobsd: %s needs another field",
					      field->name, word);
		list->size += field->size;
		if (list->size > FIELD_VALUES_MAX)
			return mistake_report(&c->source, at, "the fields after %s have more than %u bytes", word,
					      FIELD_VALUES_MAX);
		list->fields[list->count++] = field;
	} while (c->token.kind == TOKEN_COMMA);
	return true;
}

static bool
definition_expect_name(struct compiler *c, const char *name, const char *expected)
{
	return compiler_at_name(c, name) ? compiler_advance(c) : compiler_fail_expected(c, expected);
}

/* [by FIELD, ...] */
static bool
definition_parse_by(struct compiler *c)
{
	return !compiler_at_name(c, "by") ||
	       (compiler_advance(c) && definition_parse_fields(c, "by", &c->formula->by, c->by));
}

/* A time, after "in" and the like. */
static bool
definition_parse_duration(struct compiler *c, uint64_t *duration)
{
	if (c->token.kind != TOKEN_NUMBER || c->token.dimension != DIMENSION_TIME)
		return compiler_fail_expected(c, "a duration, as 10s or 500ms");
	if (c->token.number == 0)
		return mistake_report(&c->source, c->token.span.at, "a duration is at least 1ns");
	*duration = c->token.number;
	return compiler_advance(c);
}

/* times in | distinct FIELD, ... in */
static bool
definition_parse_counting(struct compiler *c)
{
	struct formula *formula = c->formula;

	if (compiler_at_name(c, "times"))
		return compiler_advance(c) && definition_expect_name(c, "in", "in");
	if (!definition_expect_name(c, "distinct", "times, or distinct and a field"))
		return false;
	if (compiler_at_name(c, "in"))
		return compiler_fail_expected(c, "a field");
	return definition_parse_fields(c, "distinct", &formula->distinct, c->distinct) &&
	       definition_expect_name(c, "in", "a comma, or in and a duration");
}

/* A field that has one value among the firings that are counted together. */
static bool
definition_check_distinct(struct compiler *c, size_t at)
{
	const struct formula *formula = c->formula;

	for (unsigned i = 0; i < formula->distinct.count; i++)
		for (unsigned j = 0; j < formula->by.count; j++)
			if (c->distinct[i] == c->by[j])
				return mistake_report(&c->source, at,
						      "%s is after distinct and after by: it has one value there",
						      formula->by.fields[j]->name);
	return true;
}

/* N times in DURATION [by FIELD, ...], N distinct FIELD, ... in DURATION [by FIELD, ...] */
static bool
definition_parse_threshold(struct compiler *c)
{
	struct formula *formula = c->formula;
	struct token number = c->token;

	if (number.kind == TOKEN_ADDRESS)
		return mistake_report(&c->source, number.span.at,
				      "several addresses must be in braces: in {10.0.0.0/8, fd00::/8}");
	if (number.kind != TOKEN_NUMBER || number.dimension != DIMENSION_NONE)
		return compiler_fail_expected(c, "a threshold, as 3 times in 1s by cs_cid");
	if (number.number < 1 || number.number > THRESHOLD_TIMES_MAX)
		return mistake_report(&c->source, number.span.at, "a threshold is 1 to %u times", THRESHOLD_TIMES_MAX);
	formula->times = (unsigned)number.number;
	if (!compiler_advance(c) || !definition_parse_counting(c) ||
	    !definition_parse_duration(c, &formula->duration_ns))
		return false;
	return definition_parse_by(c) && definition_check_distinct(c, number.span.at);
}

/* ------------------------------------------------------------------------------------------------------------ waits */

/* by FIELD, ...: of firings with different values each waits for itself. */
static bool
definition_parse_required_by(struct compiler *c)
{
	return compiler_at_name(c, "by") ? definition_parse_by(c) :
					   compiler_fail_expected(c, "by and a field, as by cs_cid");
}

/* for DURATION by FIELD, ... */
static bool
definition_parse_held(struct compiler *c)
{
	c->formula->wait = WAIT_HELD;
	return compiler_advance(c) && definition_parse_duration(c, &c->formula->duration_ns) &&
	       definition_parse_required_by(c);
}

/* Reads "by FIELD, ..." for what is absent, too: its probes may have the fields elsewhere. */
static bool
definition_parse_both_by(struct compiler *c, struct compiler *until)
{
	size_t at = c->token.span.at;

	until->lexer.at = c->lexer.at;
	until->token = c->token;
	until->previous_end = c->previous_end;
	if (!definition_parse_required_by(c) || !definition_parse_by(until))
		return false;
	for (unsigned i = 0; i < c->formula->by.count; i++) {
		const struct field_info *field = c->formula->by.fields[i], *other = until->formula->by.fields[i];

		if (field->kind != other->kind || field->size != other->size)
			return mistake_report(&c->source, at, "the probes have %s with different types", field->name);
	}
	return true;
}

/* PROBE[, PROBE...] [where EXPRESSION] within DURATION by FIELD, ... */
static bool
definition_parse_until(struct compiler *c, struct compiler *until)
{
	struct node *expression = NULL;

	if (!definition_parse_probes(until))
		return false;
	if (compiler_at_name(until, "where")) {
		expression = compiler_advance(until) ? expression_parse(until) : NULL;
		if (expression == NULL || !expression_check(until, expression))
			return false;
	}
	if (!definition_expect_name(until, "within", "within and a duration") ||
	    !definition_parse_duration(until, &c->formula->duration_ns))
		return false;
	c->lexer.at = until->lexer.at;
	c->token = until->token;
	c->previous_end = until->previous_end;
	return definition_parse_both_by(c, until) &&
	       (code_generate(until, expression) || mistake_report(&until->source, 0, "out of memory"));
}

/* no PROBE[, PROBE...] [where EXPRESSION] within DURATION by FIELD, ...; "no" is the present token */
static bool
definition_parse_absent(struct compiler *c)
{
	struct compiler *until = calloc(1, sizeof *until);
	bool good;

	c->formula->wait = WAIT_ABSENT;
	c->formula->until = calloc(1, sizeof *c->formula->until);
	if (until == NULL || c->formula->until == NULL) {
		free(until);
		return mistake_report(&c->source, 0, "out of memory");
	}
	until->source = c->source;
	until->lexer = c->lexer;
	until->lexer.source = &until->source;
	until->formula = c->formula->until;
	until->row = c->row;
	good = definition_parse_until(c, until);
	free(until);
	return good;
}

/* --------------------------------------------------------------------------------------------------- the rest of it */

bool
formula_is_per_packet(const struct formula *formula)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (formula_reads_probe(formula, (enum probe_id)i) && manifest_per_packet[i])
			return true;
	return false;
}

/* "counted", "uncounted", or what fits the probes. */
static bool
definition_parse_counted(struct compiler *c)
{
	bool counted = compiler_at_name(c, "counted");

	if (counted || compiler_at_name(c, "uncounted")) {
		c->formula->is_counted = counted;
		return compiler_advance(c);
	}
	c->formula->is_counted = !formula_is_per_packet(c->formula);
	return true;
}

/* What may follow the part of the definition that was read last. */
static const char *
definition_possible_rest(const struct compiler *c, bool has_expression)
{
	if (c->formula->times > 0 || c->formula->wait != WAIT_NONE)
		return c->formula->by.count > 0 ? "a comma, counted or the end" : "by, counted or the end";
	return has_expression ? "an operator or the end" : "a comma, where or the end";
}

/* Something that does not belong to the definition. */
static bool
definition_fail_rest(struct compiler *c, bool has_expression)
{
	static const char *const words[] = {"where", "counted", "uncounted", "in", "by", "for"};
	static const char counted[] = "counted";
	const char *before = c->source.text + c->previous_end - (sizeof counted - 1);
	char hint[NEAREST_HINT_MAX], expected[NEAREST_HINT_MAX + 40];
	struct nearest nearest;

	if ((c->formula->times > 0 || c->formula->wait != WAIT_NONE) && compiler_at_name(c, "where"))
		return mistake_report(&c->source, c->token.span.at, "where comes before %s",
				      c->formula->times > 0 ? "the threshold" : "the duration");
	if (c->token.kind == TOKEN_DIVIDE)
		return mistake_report(&c->source, c->token.span.at,
				      "a predicate of D comes after where, without its slashes");
	if (c->previous_end >= sizeof counted && strncmp(before, counted, sizeof counted - 1) == 0)
		return mistake_report(&c->source, c->token.span.at, "counted and uncounted are the last word");
	nearest_begin(&nearest, c->source.text + c->token.span.at, c->token.span.length);
	for (size_t i = 0; c->token.kind == TOKEN_NAME && i < sizeof words / sizeof words[0]; i++)
		if (!compiler_at_name(c, words[i]))
			nearest_consider(&nearest, words[i]);
	snprintf(expected, sizeof expected, "%s%s", definition_possible_rest(c, has_expression),
		 nearest_hint(&nearest, "", hint));
	return compiler_fail_expected(c, expected);
}

/* [for DURATION by FIELD, ...], or after a comma what is absent, or a threshold */
static bool
definition_parse_condition(struct compiler *c)
{
	if (compiler_at_name(c, "for"))
		return definition_parse_held(c);
	if (c->token.kind != TOKEN_COMMA)
		return true;
	if (!compiler_advance(c))
		return false;
	if (compiler_at_name(c, "for"))
		return mistake_report(&c->source, c->token.span.at, "for comes after the expression without a comma");
	return compiler_at_name(c, "no") ? definition_parse_absent(c) : definition_parse_threshold(c);
}

static bool
definition_parse(struct compiler *c, struct node **expression)
{
	if (!definition_parse_name(c) || !definition_parse_probes(c))
		return false;
	if (compiler_at_name(c, "where")) {
		*expression = compiler_advance(c) ? expression_parse(c) : NULL;
		if (*expression == NULL || !expression_check(c, *expression))
			return false;
	}
	if (!definition_parse_condition(c))
		return false;
	if (!definition_parse_counted(c))
		return false;
	return c->token.kind == TOKEN_END || definition_fail_rest(c, *expression != NULL);
}

static bool
definition_compile(struct compiler *c, const char *text)
{
	struct node *expression = NULL;
	size_t length = strnlen(text, FORMULA_TEXT_MAX + 1);

	c->lexer.source = &c->source;
	c->source.text = c->formula->text;
	if (length > FORMULA_TEXT_MAX)
		return mistake_report(&c->source, 0, "the definition is longer than %u bytes", FORMULA_TEXT_MAX);
	memcpy(c->formula->text, text, length);
	c->source.length = length;
	if (!definition_parse(c, &expression))
		return false;
	return code_generate(c, expression) || mistake_report(&c->source, 0, "out of memory");
}

struct formula *
formula_compile(const char *text, struct formula_error *error)
{
	return formula_compile_rows(text, &manifest_structs[STRUCT_CONNREC], error);
}

struct formula *
formula_compile_rows(const char *text, const struct struct_info *row, struct formula_error *error)
{
	struct compiler *c = calloc(1, sizeof *c);
	struct formula *formula = calloc(1, sizeof *formula);

	*error = (struct formula_error){1, 1, "out of memory"};
	if (c != NULL && formula != NULL) {
		c->formula = formula;
		c->source.error = error;
		c->row = row;
		if (!definition_compile(c, text)) {
			formula_free(formula);
			formula = NULL;
			engine_formula_error(error->line, error->column);
		}
	} else {
		free(formula);
		formula = NULL;
	}
	free(c);
	return formula;
}

struct formula *
formula_new_for_probe(enum probe_id probe)
{
	char text[FORMULA_NAME_MAX + 40];
	struct formula_error error;
	struct formula *formula;

	snprintf(text, sizeof text, "probe = %s uncounted", manifest_probes[probe].name);
	formula = formula_compile(text, &error);
	if (formula != NULL)
		snprintf(formula->name, sizeof formula->name, "%s", manifest_probes[probe].name);
	return formula;
}

const char *
formula_name(const struct formula *formula)
{
	return formula->name;
}

const char *
formula_text(const struct formula *formula)
{
	return formula->text;
}

bool
formula_has_probe(const struct formula *formula, enum probe_id probe)
{
	return formula->probes[probe];
}

bool
formula_reads_probe(const struct formula *formula, enum probe_id probe)
{
	return formula->probes[probe] || (formula->until != NULL && formula->until->probes[probe]);
}

bool
formula_is_counted(const struct formula *formula)
{
	return formula->is_counted;
}

bool
formula_has_threshold(const struct formula *formula)
{
	return formula->times > 0;
}

bool
formula_has_wait(const struct formula *formula)
{
	return formula->wait != WAIT_NONE;
}
