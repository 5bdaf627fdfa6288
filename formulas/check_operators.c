/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "formulas/code.h"
#include "formulas/match/pattern.h"
#include "formulas/syntax.h"
#include "formulas/words.h"
#include "probes/nearest.h"

const char *
check_excerpt(const struct compiler *c, const struct node *node, char excerpt[EXCERPT_MAX])
{
	return mistake_excerpt(&c->source, node->span, excerpt);
}

/* ------------------------------------------------------------------------------------------------------------ words */

/* A word that no field beside it explains. */
bool
check_fail_word(struct compiler *c, const struct node *node)
{
	const char *text;
	unsigned use;

	while (node->kind != NODE_NAME)
		node = node->left->type == VALUE_WORD ? node->left : node->right;
	text = c->source.text + node->span.at;
	for (size_t i = 0; i < manifest_enum_count; i++)
		if (words_find(manifest_enums[i], text, node->span.length) != NULL)
			return mistake_report(&c->source, node->span.at,
					      "%.*s is a number of %s: compare it with such a field",
					      (int)node->span.length, text, manifest_enums[i]->field);
	return field_find_use(c, node->span, -1, &use);
}

/* Words that a message lists, at most. */
#define WORDS_LISTED_MAX 11u

static void
check_list_words(const struct enum_info *info, char *list, size_t size)
{
	size_t used = 0;
	char spelling[64];

	for (size_t i = 0; i < info->word_count && i < WORDS_LISTED_MAX && used < size; i++)
		used += (size_t)snprintf(list + used, size - used, "%s%s", i > 0 ? ", " : "",
					 words_spell(info, info->words[i].word, spelling, sizeof spelling));
	if (info->word_count > WORDS_LISTED_MAX && used < size)
		snprintf(list + used, size - used, ", ...");
}

bool
check_fail_unknown_word(struct compiler *c, const struct node *node, const struct enum_info *info)
{
	const char *text = c->source.text + node->span.at;
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
	char lower[NEAREST_WORD_MAX], list[180], spelling[64];
	struct nearest nearest;
	size_t i;

	for (i = 0; i < length && i < sizeof lower - 1; i++)
		lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i] == '_' ? '-' : text[i]);
	lower[i] = '\0';
	nearest_begin(&nearest, lower, i);
	for (i = 0; i < info->word_count; i++)
		nearest_consider(&nearest, info->words[i].word);
	if (nearest.found != NULL)
		return mistake_report(&c->source, node->span.at, "%s has no %.*s (did you mean %s?)", info->field,
				      (int)(length < NEAREST_WORD_MAX ? length : NEAREST_WORD_MAX), text,
				      words_spell(info, nearest.found, spelling, sizeof spelling));
	check_list_words(info, list, sizeof list);
	return mistake_report(&c->source, node->span.at, "%s has no %.*s; it has %s", info->field,
			      (int)(length < NEAREST_WORD_MAX ? length : NEAREST_WORD_MAX), text, list);
}

/* ---------------------------------------------------------------------------------------------------------- folding */

static enum operation
check_operation(const struct node *node)
{
	return number_operation(node->operation, node->kind == NODE_UNARY, node->is_unsigned);
}

bool
check_fold(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;
	uint64_t result;

	if (right != NULL && right->kind == NODE_NUMBER &&
	    !number_is_defined(check_operation(node), right->number))
		return mistake_report(&c->source, right->span.at,
				      node->operation == TOKEN_DIVIDE || node->operation == TOKEN_MODULO ?
					      "division by 0" :
					      "a shift is by 0 to 63 bits");
	if (left->kind != NODE_NUMBER || (right != NULL && right->kind != NODE_NUMBER))
		return true;
	result = number_compute(check_operation(node), left->number, right == NULL ? 0 : right->number);
	node->dimension = left->dimension != DIMENSION_NONE || right == NULL ? left->dimension : right->dimension;
	node->kind = NODE_NUMBER;
	node->number = result;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ units */

/* Makes a constant with a unit a number in the unit of the other operand. */
static bool
check_convert(struct compiler *c, struct node *constant, const struct node *other)
{
	uint64_t factor = field_unit_factor(other->unit);
	enum dimension dimension = field_dimension(other->unit);
	char excerpt[EXCERPT_MAX], other_excerpt[EXCERPT_MAX];

	check_excerpt(c, constant, excerpt);
	check_excerpt(c, other, other_excerpt);
	if (dimension == DIMENSION_NONE)
		return mistake_report(&c->source, constant->span.at,
				      "%s has no unit: a plain number is expected, not %s", other_excerpt, excerpt);
	if (dimension != constant->dimension)
		return mistake_report(&c->source, constant->span.at,
				      "%s counts %s, which %s is not: units that fit are %s", other_excerpt,
				      field_unit_name(other->unit), excerpt, dimension_units(dimension));
	if (constant->is_unsigned || (int64_t)constant->number >= 0 ? constant->number % factor != 0 :
								       (int64_t)constant->number % (int64_t)factor != 0)
		return mistake_report(&c->source, constant->span.at,
				      "%s counts %s, and %s is not a whole number of them", other_excerpt,
				      field_unit_name(other->unit), excerpt);
	constant->number = constant->is_unsigned ? constant->number / factor :
						   (uint64_t)((int64_t)constant->number / (int64_t)factor);
	constant->dimension = DIMENSION_NONE;
	return true;
}

bool
check_units_compare(struct compiler *c, struct node *left, struct node *right)
{
	if (left->dimension != DIMENSION_NONE && right->dimension != DIMENSION_NONE)
		return left->dimension == right->dimension ||
		       mistake_report(&c->source, right->span.at, "a time and a size have no common unit");
	if (left->dimension != DIMENSION_NONE)
		return check_convert(c, left, right);
	return right->dimension == DIMENSION_NONE || check_convert(c, right, left);
}

enum field_unit
check_common_unit(const struct node *left, const struct node *right)
{
	if (left->unit == right->unit || right->kind == NODE_NUMBER)
		return left->unit;
	return left->kind == NODE_NUMBER ? right->unit : UNIT_NONE;
}

bool
check_units_fields(struct compiler *c, const struct node *left, const struct node *right)
{
	char excerpt[EXCERPT_MAX], other_excerpt[EXCERPT_MAX];

	if (left->kind != NODE_FIELD || right->kind != NODE_FIELD || left->unit == right->unit ||
	    left->unit == UNIT_NONE || right->unit == UNIT_NONE)
		return true;
	return mistake_report(&c->source, right->span.at, "%s counts %s, and %s counts %s: convert one with * or /",
			      check_excerpt(c, left, excerpt), field_unit_name(left->unit),
			      check_excerpt(c, right, other_excerpt), field_unit_name(right->unit));
}

static bool
check_is_scaling(const struct node *node)
{
	return node->operation == TOKEN_TIMES || node->operation == TOKEN_DIVIDE || node->operation == TOKEN_MODULO;
}

bool
check_units_binary(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;
	bool additive = node->operation == TOKEN_PLUS || node->operation == TOKEN_MINUS;

	if (left->kind == NODE_NUMBER && right->kind == NODE_NUMBER &&
	    (left->dimension == DIMENSION_NONE || right->dimension == DIMENSION_NONE) && check_is_scaling(node))
		return true; /* 2 * 10ms */
	if (left->dimension != DIMENSION_NONE || right->dimension != DIMENSION_NONE) {
		char excerpt[EXCERPT_MAX];

		if (!additive)
			return mistake_report(&c->source, node->span.at,
					      "no unit in %s: units are for + - and comparisons",
					      check_excerpt(c, node, excerpt));
		if (!check_units_compare(c, left, right))
			return false;
	}
	if (additive && !check_units_fields(c, left, right))
		return false;
	if (additive)
		node->unit = check_common_unit(left, right);
	else if (check_is_scaling(node) && right->unit == UNIT_NONE)
		node->unit = left->unit;
	else if (node->operation == TOKEN_TIMES && left->unit == UNIT_NONE)
		node->unit = right->unit;
	return true;
}

/* ----------------------------------------------------------------------------------------------- likely misreadings */

static bool
check_is_comparison(const struct node *node)
{
	return (node->kind == NODE_COMPARE || node->kind == NODE_IN) && !node->in_parentheses;
}

bool
check_precedence(struct compiler *c, const struct node *node)
{
	const char *operation = token_spelling(node->operation);

	if ((node->operation != TOKEN_BIT_AND && node->operation != TOKEN_BIT_OR && node->operation != TOKEN_BIT_XOR) ||
	    check_is_comparison(node->left) == check_is_comparison(node->right))
		return true;
	if (check_is_comparison(node->right))
		return mistake_report(&c->source, node->span.at,
				      "%s binds less tight than a comparison: write (a %s b) == c", operation,
				      operation);
	return mistake_report(&c->source, node->span.at, "%s binds less tight than a comparison: write a == (b %s c)",
			      operation, operation);
}

bool
check_chain(struct compiler *c, const struct node *node)
{
	const struct node *left = node->left;

	if (check_is_comparison(left) || (node->kind == NODE_COMPARE && check_is_comparison(node->right)))
		return mistake_report(&c->source, node->span.at,
				      "a comparison is compared: write a < b && b < c, or use parentheses");
	if (left->kind == NODE_NOT && !left->in_parentheses)
		return mistake_report(&c->source, node->span.at,
				      "! applies to the operand only: write !(a == b), or use parentheses");
	return true;
}

/* The smallest and the largest number of a field, as bits; returns false if the node is not such a field. */
static bool
check_field_limits(const struct compiler *c, const struct node *node, uint64_t *low, uint64_t *high)
{
	const struct field_info *field;
	unsigned bits;

	if (node->kind != NODE_FIELD)
		return false;
	field = c->uses[node->use].field;
	bits = node->byte >= 0 ? 8 : (unsigned)field->size * 8;
	if (field->kind == FIELD_SIGNED) {
		*high = UINT64_MAX >> (65 - bits);
		*low = ~*high;
	} else {
		*high = UINT64_MAX >> (64 - bits);
		*low = 0;
	}
	return true;
}

bool
check_limits(struct compiler *c, const struct node *field, const struct node *constant)
{
	uint64_t low, high;
	char excerpt[EXCERPT_MAX], constant_excerpt[EXCERPT_MAX];
	bool negative, good;

	if (constant->kind != NODE_NUMBER || constant->type != VALUE_NUMBER)
		return true;
	negative = !constant->is_unsigned && (int64_t)constant->number < 0;
	if (field->is_unsigned && negative)
		return mistake_report(&c->source, constant->span.at, "%s is never negative",
				      check_excerpt(c, field, excerpt));
	if (!check_field_limits(c, field, &low, &high))
		return true;
	if (field->is_unsigned)
		good = true;
	else if (constant->is_unsigned)
		good = false;
	else
		good = (int64_t)constant->number >= (int64_t)low && (int64_t)constant->number <= (int64_t)high;
	if (good)
		return true;
	check_excerpt(c, constant, constant_excerpt);
	return mistake_report(&c->source, constant->span.at, "%s is %lld to %lld, never %s",
			      check_excerpt(c, field, excerpt), (long long)low, (long long)high, constant_excerpt);
}

/* ---------------------------------------------------------------------------------------------- texts and addresses */

/* A text beside a field of an address that is never its text. */
static bool
check_address_text(struct compiler *c, const struct field_info *field, const struct node *literal)
{
	struct span inside = {literal->span.at + 1, literal->span.length - 2};
	struct address address;
	char spelling[64], excerpt[EXCERPT_MAX];

	if (!field->is_address || literal->length == 0 || strcmp(literal->text, "<unknown>") == 0)
		return true;
	if (address_parse(literal->text, &address) != literal->length ||
	    address.bits > (address.version == 4 ? 32u : 128u))
		return mistake_report(&c->source, literal->span.at, "%s is an address, as 10.0.0.1: never %s",
				      field->name, check_excerpt(c, literal, excerpt));
	address_spell(&address, spelling, sizeof spelling);
	if (strncmp(spelling, literal->text, literal->length) == 0 && spelling[literal->length] == '/')
		return true;
	return mistake_report(&c->source, literal->span.at, "an address stands without quotes: %s",
			      mistake_excerpt(&c->source, inside, excerpt));
}

/* A text next to a state's name that is not its name: tcps_statestr == "established". */
static bool
check_state_text(struct compiler *c, const struct field_info *field, const struct node *literal)
{
	static const char state[] = "state-", suffix[] = "_statestr";
	size_t length = strlen(field->name), skipped = sizeof state - 1;
	char excerpt[EXCERPT_MAX];

	if (length < sizeof suffix || strcmp(field->name + length - (sizeof suffix - 1), suffix) != 0 ||
	    strcmp(literal->text, "<unknown>") == 0)
		return true;
	if (strncmp(literal->text, state, skipped) == 0 &&
	    words_are_known(literal->text + skipped, literal->length - skipped))
		return true;
	return mistake_report(&c->source, literal->span.at, "%s is \"state-established\" or the like, never %s",
			      field->name, check_excerpt(c, literal, excerpt));
}

bool
check_text(struct compiler *c, const struct node *field, const struct node *literal)
{
	const struct field_info *info = c->uses[field->use].field;
	size_t size = info->size;
	char excerpt[EXCERPT_MAX];

	if (literal->length < size)
		return check_address_text(c, info, literal) && check_state_text(c, info, literal);
	return mistake_report(&c->source, literal->span.at, "%s has at most %zu bytes, this text has %zu",
			      check_excerpt(c, field, excerpt), size - 1, literal->length);
}

bool
check_pattern(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;
	char excerpt[EXCERPT_MAX];
	size_t mistake;

	if (left->type == VALUE_WORD)
		return check_fail_word(c, left);
	if (left->type != VALUE_TEXT || left->kind != NODE_FIELD)
		return mistake_report(&c->source, left->span.at, "%s is not a field of text, which ~ needs",
				      check_excerpt(c, left, excerpt));
	if (right->kind != NODE_TEXT)
		return mistake_report(&c->source, right->span.at, "~ needs a pattern in double quotes, as \"ngin*\"");
	mistake = pattern_find_mistake(right->text, right->length);
	if (mistake == right->length)
		return true;
	return mistake_report(&c->source, right->span.at,
			      right->text[mistake] == '[' ? "the pattern has a [ without ]; \\\\[ is the character" :
							    "the pattern ends in a \\");
}

bool
check_address_field(struct compiler *c, const struct node *field, struct node *address)
{
	char excerpt[EXCERPT_MAX];
	const struct field_info *info = field->kind == NODE_FIELD ? c->uses[field->use].field : NULL;

	if (info != NULL && info->is_address) {
		if (address->address.version == 4 || info->size > 16)
			return true;
		return mistake_report(&c->source, address->span.at, "%s is an IPv4 address", info->name);
	}
	if (info != NULL && info->kind == FIELD_NETWORK) {
		if (address->address.version == 4)
			return true;
		return mistake_report(&c->source, address->span.at, "%s is an IPv4 address", info->name);
	}
	return mistake_report(&c->source, field->span.at, "%s is not an address", check_excerpt(c, field, excerpt));
}

bool
check_compare_address(struct compiler *c, struct node *node)
{
	struct node *left = node->left;

	if (node->operation != TOKEN_EQUAL && node->operation != TOKEN_NOT_EQUAL)
		return mistake_report(&c->source, node->span.at, "an address is compared with == != and in");
	if (left->type == VALUE_ADDRESS) {
		node->left = node->right;
		node->right = left;
	}
	if (node->left->type == VALUE_WORD)
		return check_fail_word(c, node->left);
	return check_address_field(c, node->left, node->right);
}
