/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, words, units and types of an expression. */
#include <stdio.h>
#include <string.h>

#include "formulas/match/pattern.h"
#include "formulas/syntax.h"
#include "formulas/words.h"

static bool check_value(struct compiler *c, struct node *node);

/* --------------------------------------------------------------------------------------------------------- operands */

static bool
check_byte(struct compiler *c, struct node *node, const struct field_info *field)
{
	if (field->kind != FIELD_BYTES)
		return mistake_report(&c->source, node->span.at, "%s has no index: it is not an array of bytes",
				      field->name);
	if ((size_t)node->byte >= field->size)
		return mistake_report(&c->source, node->span.at, "the index must be 0 to %zu", field->size - 1);
	node->type = VALUE_NUMBER;
	return true;
}

static bool
check_field(struct compiler *c, struct node *node)
{
	const struct field_info *field;

	if (!field_find_use(c, node->span, node->position, &node->use))
		return false;
	node->kind = NODE_FIELD;
	field = c->uses[node->use].field;
	node->unit = field->unit;
	node->words = field->words;
	if (node->byte >= 0)
		return check_byte(c, node, field);
	switch (field->kind) {
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
	case FIELD_NETWORK:
		node->type = VALUE_NUMBER;
		node->is_unsigned = field->kind == FIELD_UNSIGNED && field->size == 8;
		break;
	case FIELD_TEXT:
		node->type = VALUE_TEXT;
		break;
	case FIELD_BYTES:
		node->type = VALUE_BYTES;
		break;
	case FIELD_POINTER:
		node->type = VALUE_POINTER;
		break;
	}
	return true;
}

/* A name is a field of the probes, a word of an enum, or a mistake that depends on the other operand. */
static bool
check_name(struct compiler *c, struct node *node)
{
	const char *text = c->source.text + node->span.at;

	if (node->position >= 0 || node->byte >= 0 || field_is_known(c, text, node->span.length))
		return check_field(c, node);
	node->type = VALUE_WORD;
	return true;
}

static bool
check_argument(struct compiler *c, struct node *node)
{
	return field_find_argument(c, node->span, node->position, &node->use);
}

/* ------------------------------------------------------------------------------------------------------------ types */

/* The operand of an operator on numbers. */
static bool
check_number(struct compiler *c, struct node *node)
{
	char excerpt[EXCERPT_MAX];

	check_excerpt(c, node, excerpt);
	switch (node->type) {
	case VALUE_NUMBER:
	case VALUE_TRUTH:
		return true;
	case VALUE_WORD:
		return check_fail_word(c, node);
	case VALUE_TEXT:
		return mistake_report(&c->source, node->span.at,
				      "%s is text: it is compared with == != and ~, or with in {\"a\", \"b\"}",
				      excerpt);
	case VALUE_ADDRESS:
		return mistake_report(&c->source, node->span.at,
				      "%s is an address: it comes after in or ==", excerpt);
	case VALUE_NULL:
		return mistake_report(&c->source, node->span.at, "NULL is for comparisons with == and !=");
	case VALUE_ARGUMENT:
		return mistake_report(&c->source, node->span.at, "%s is a struct: its fields are %s->FIELD", excerpt,
				      excerpt);
	case VALUE_POINTER:
		return mistake_report(&c->source, node->span.at,
				      "%s is an address in netobsd: only == NULL and != NULL are possible", excerpt);
	case VALUE_BYTES:
		return mistake_report(&c->source, node->span.at, "%s has several bytes: %s[0] is the first one",
				      excerpt, excerpt);
	}
	return false;
}

/* Resolves the words in an operand beside a field that has words. */
static bool
check_resolve_words(struct compiler *c, struct node *node, const struct enum_info *info)
{
	const struct word_info *word;

	if (node->type != VALUE_WORD)
		return true;
	if (node->kind != NODE_NAME) {
		node->type = VALUE_NUMBER;
		return check_resolve_words(c, node->left, info) &&
		       (node->right == NULL || check_resolve_words(c, node->right, info)) && check_fold(c, node);
	}
	word = words_find(info, c->source.text + node->span.at, node->span.length);
	if (word == NULL)
		return check_fail_unknown_word(c, node, info);
	node->kind = NODE_NUMBER;
	node->type = VALUE_NUMBER;
	node->number = (uint64_t)word->value;
	return true;
}

/* A word next to a number that has no words; tcp_sprot is the name of a field, misspelt. */
static bool
check_fail_no_words(struct compiler *c, const struct node *field, const struct node *word)
{
	const char *name = c->uses[field->use].field->name, *text = c->source.text + word->span.at;
	char sibling[72], excerpt[EXCERPT_MAX];

	if (memchr(text, '_', word->span.length) != NULL)
		return check_fail_word(c, word);
	snprintf(sibling, sizeof sibling, "%sstr", name);
	return mistake_report(&c->source, word->span.at, "%s has no words: a number is expected, not %s%s%s%s", name,
			      check_excerpt(c, word, excerpt), field_is_known(c, sibling, strlen(sibling)) ? "; " : "",
			      field_is_known(c, sibling, strlen(sibling)) ? sibling : "",
			      field_is_known(c, sibling, strlen(sibling)) ? " is text" : "");
}

/* Resolves the words of either operand by the other one. */
static bool
check_join_words(struct compiler *c, struct node *left, struct node *right)
{
	if (left->type == VALUE_WORD && right->words != NULL)
		return check_resolve_words(c, left, right->words);
	if (right->type == VALUE_WORD && left->words != NULL)
		return check_resolve_words(c, right, left->words);
	if (right->type == VALUE_WORD && right->kind == NODE_NAME && left->kind == NODE_FIELD &&
	    left->type == VALUE_NUMBER)
		return check_fail_no_words(c, left, right);
	if (right->type == VALUE_WORD && left->type == VALUE_TEXT && right->kind == NODE_NAME)
		return mistake_report(&c->source, right->span.at,
				      "text must be in double quotes: \"%.*s\"; quote the expression for a shell",
				      (int)right->span.length, c->source.text + right->span.at);
	return true;
}

/* -------------------------------------------------------------------------------------------------------- operators */

static bool
check_unary(struct compiler *c, struct node *node)
{
	struct node *left = node->left;

	if (!check_value(c, left))
		return false;
	if (left->type == VALUE_WORD) {
		node->type = VALUE_WORD;
		return true;
	}
	node->type = VALUE_NUMBER;
	node->is_unsigned = left->is_unsigned;
	node->unit = left->unit;
	node->dimension = left->dimension;
	node->words = left->words;
	return check_number(c, left) && check_fold(c, node);
}

static bool
check_binary(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;

	if (!check_precedence(c, node) || !check_value(c, left) || !check_value(c, right) ||
	    !check_join_words(c, left, right))
		return false;
	if (left->type == VALUE_WORD && right->type == VALUE_WORD) {
		node->type = VALUE_WORD;
		return true;
	}
	if (left->type == VALUE_WORD && right->kind == NODE_NUMBER) { /* SYN|0x10 */
		node->type = VALUE_WORD;
		return true;
	}
	if (right->type == VALUE_WORD && left->kind == NODE_NUMBER) {
		node->type = VALUE_WORD;
		return true;
	}
	node->type = VALUE_NUMBER;
	node->words = left->words != NULL ? left->words : right->words;
	node->is_unsigned = left->is_unsigned || right->is_unsigned;
	if (node->operation == TOKEN_SHIFT_LEFT || node->operation == TOKEN_SHIFT_RIGHT)
		node->is_unsigned = left->is_unsigned;
	return check_number(c, left) && check_number(c, right) && check_units_binary(c, node) && check_fold(c, node);
}

static bool
check_is_pointer(const struct node *node)
{
	return node->type == VALUE_ARGUMENT || node->type == VALUE_POINTER;
}

/* NULL, also as 0. */
static bool
check_is_null(const struct node *node, const struct node *other)
{
	return node->type == VALUE_NULL || (node->kind == NODE_NUMBER && node->number == 0 && check_is_pointer(other));
}

/* args[1] == NULL */
static bool
check_compare_null(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;
	struct node *other = left->type == VALUE_NULL || check_is_pointer(right) ? right : left;
	char excerpt[EXCERPT_MAX];

	if (node->operation != TOKEN_EQUAL && node->operation != TOKEN_NOT_EQUAL)
		return mistake_report(&c->source, node->span.at, "NULL is compared with == and !=");
	if (check_is_pointer(other))
		return true;
	if (other->type == VALUE_WORD)
		return check_fail_word(c, other);
	return mistake_report(&c->source, other->span.at, "%s is never NULL: only an argument is, as args[1]",
			      check_excerpt(c, other, excerpt));
}

/* A text beside a number: tcp_flags == "SYN". */
static bool
check_fail_number_as_text(struct compiler *c, const struct node *field, const struct node *literal)
{
	struct span inside = {literal->span.at + 1, literal->span.length - 2};
	char excerpt[EXCERPT_MAX], word[EXCERPT_MAX];

	check_excerpt(c, field, excerpt);
	if (literal->kind == NODE_TEXT && field->words != NULL)
		return mistake_report(&c->source, literal->span.at,
				      "%s is a number: its words stand without quotes: %s", excerpt,
				      mistake_excerpt(&c->source, inside, word));
	return mistake_report(&c->source, literal->span.at, "%s is a number, not text", excerpt);
}

static bool
check_compare_text(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right, *literal = left->kind == NODE_TEXT ? left : right;
	struct node *field = literal == left ? right : left;
	char excerpt[EXCERPT_MAX];

	if (node->operation != TOKEN_EQUAL && node->operation != TOKEN_NOT_EQUAL)
		return mistake_report(&c->source, node->span.at, "text is compared with == != and ~");
	if (left->type != VALUE_TEXT || right->type != VALUE_TEXT) {
		struct node *other = left->type == VALUE_TEXT ? right : left;

		if (other->type == VALUE_WORD)
			return check_fail_word(c, other);
		if (other->kind == NODE_FIELD)
			return check_fail_number_as_text(c, other, literal);
		return mistake_report(&c->source, other->span.at, "%s is not text",
				      check_excerpt(c, other, excerpt));
	}
	if (left->kind == NODE_TEXT && right->kind == NODE_TEXT)
		return mistake_report(&c->source, node->span.at, "two texts are compared, and no field");
	return literal->kind != NODE_TEXT || check_text(c, field, literal);
}

static bool
check_compare(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;

	node->type = VALUE_TRUTH;
	if (!check_chain(c, node) || !check_value(c, left) || !check_value(c, right) ||
	    !check_join_words(c, left, right))
		return false;
	if (node->operation == TOKEN_TILDE)
		return check_pattern(c, node);
	if (check_is_null(left, right) || check_is_null(right, left))
		return check_compare_null(c, node);
	if (right->type == VALUE_ADDRESS || left->type == VALUE_ADDRESS)
		return check_compare_address(c, node);
	if (left->type == VALUE_TEXT || right->type == VALUE_TEXT)
		return check_compare_text(c, node);
	if (left->kind == NODE_NUMBER && right->kind == NODE_NUMBER)
		return mistake_report(&c->source, node->span.at, "two numbers are compared, and no field");
	return check_number(c, left) && check_number(c, right) && check_units_compare(c, left, right) &&
	       check_units_fields(c, left, right) && check_limits(c, left, right) && check_limits(c, right, left);
}

/* ------------------------------------------------------------------------------------------------------------- sets */

/* An item of a set of numbers. */
static bool
check_item_number(struct compiler *c, struct node *left, struct node *item)
{
	char excerpt[EXCERPT_MAX];

	if (item->kind == NODE_TEXT)
		return check_fail_number_as_text(c, left, item);
	if (!check_value(c, item) || !check_join_words(c, left, item) || !check_number(c, item))
		return false;
	if (item->kind != NODE_NUMBER)
		return mistake_report(&c->source, item->span.at, "%s is not a constant",
				      check_excerpt(c, item, excerpt));
	if (item->is_unsigned && !left->is_unsigned)
		return mistake_report(&c->source, item->span.at, "%s is never more than %lld",
				      check_excerpt(c, left, excerpt), (long long)INT64_MAX);
	return check_units_compare(c, left, item) && check_limits(c, left, item);
}

/* 100 of 100..200ms; 0 is the same in every unit. */
static bool
check_is_half_unit(const struct node *number, const struct node *other)
{
	return number->kind == NODE_NUMBER && number->dimension == DIMENSION_NONE && number->number != 0 &&
	       other->dimension != DIMENSION_NONE;
}

static bool
check_item_range(struct compiler *c, struct node *left, struct node *item)
{
	bool empty;

	if (check_is_half_unit(item->left, item->right) || check_is_half_unit(item->right, item->left))
		return mistake_report(&c->source, item->span.at,
				      "both numbers of a range have a unit or neither has, as 100ms..200ms");
	if (!check_item_number(c, left, item->left) || !check_item_number(c, left, item->right))
		return false;
	empty = left->is_unsigned ? item->left->number > item->right->number :
				    (int64_t)item->left->number > (int64_t)item->right->number;
	return !empty ||
	       mistake_report(&c->source, item->span.at, "the range is empty: the smaller number comes first");
}

/* An item of a set of texts and addresses. */
static bool
check_item_text(struct compiler *c, struct node *left, struct node *item)
{
	char excerpt[EXCERPT_MAX];

	if (item->kind == NODE_ADDRESS)
		return check_address_field(c, left, item);
	if (item->kind == NODE_NAME)
		return mistake_report(&c->source, item->span.at,
				      "text must be in double quotes: \"%.*s\"; quote the expression for a shell",
				      (int)item->span.length, c->source.text + item->span.at);
	if (item->kind != NODE_TEXT)
		return mistake_report(&c->source, item->span.at, "%s is not text", check_excerpt(c, item, excerpt));
	return check_text(c, left, item);
}

static bool
check_in(struct compiler *c, struct node *node)
{
	struct node *left = node->left;

	node->type = VALUE_TRUTH;
	if (!check_chain(c, node) || !check_value(c, left))
		return false;
	if (left->type != VALUE_TEXT && !check_number(c, left))
		return false;
	if (left->kind == NODE_TEXT || left->kind == NODE_NUMBER)
		return mistake_report(&c->source, left->span.at, "a field is expected before in");
	for (struct node *item = node->right; item != NULL; item = item->next) {
		bool good;

		if (left->type == VALUE_TEXT)
			good = check_item_text(c, left, item);
		else if (item->kind == NODE_ADDRESS)
			good = check_address_field(c, left, item);
		else if (item->kind == NODE_RANGE)
			good = check_item_range(c, left, item);
		else
			good = check_item_number(c, left, item);
		if (!good)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------- conditions */

/* A number that is true or false for ever, as 443 alone or in server_port == 80 || 443. */
static bool
check_fail_constant(struct compiler *c, const struct node *node)
{
	bool rows = c->row != &manifest_structs[STRUCT_CONNREC]; /* of connections, whose likeliest number is a port */
	char excerpt[EXCERPT_MAX];

	check_excerpt(c, node, excerpt);
	if (rows && node->dimension == DIMENSION_NONE && node->number != 0 && node->number <= UINT16_MAX)
		return mistake_report(&c->source, node->span.at, "a number alone is not a condition: server_port == %s",
				      excerpt);
	return mistake_report(&c->source, node->span.at, "%s alone is not a condition: compare it with a field",
			      excerpt);
}

static bool
check_condition(struct compiler *c, struct node *node)
{
	char excerpt[EXCERPT_MAX];

	if (!check_value(c, node))
		return false;
	if (node->type == VALUE_ARGUMENT)
		return true;
	if (node->kind == NODE_NUMBER)
		return check_fail_constant(c, node);
	if (node->type == VALUE_TEXT)
		return mistake_report(&c->source, node->span.at, "text alone is not a condition: %s != \"\"",
				      check_excerpt(c, node, excerpt));
	return check_number(c, node);
}

static bool
check_choice(struct compiler *c, struct node *node)
{
	struct node *left = node->left, *right = node->right;

	if (!check_condition(c, node->condition) || !check_value(c, left) || !check_value(c, right) ||
	    !check_join_words(c, left, right) || !check_number(c, left) || !check_number(c, right) ||
	    !check_units_compare(c, left, right))
		return false;
	if (left->dimension != DIMENSION_NONE)
		return mistake_report(&c->source, left->span.at,
				      "units in ?: have no field next to them: write a ? b > 1s : b > 2s");
	node->type = VALUE_NUMBER;
	node->is_unsigned = left->is_unsigned || right->is_unsigned;
	node->unit = check_common_unit(left, right);
	node->words = left->words != NULL ? left->words : right->words;
	return true;
}

static bool
check_value(struct compiler *c, struct node *node)
{
	switch (node->kind) {
	case NODE_NUMBER:
	case NODE_TEXT:
	case NODE_ADDRESS:
	case NODE_NULL:
	case NODE_FIELD:
	case NODE_PCAP:
	case NODE_RANGE:
		return true;
	case NODE_NAME:
		return check_name(c, node);
	case NODE_ARGUMENT:
		return check_argument(c, node);
	case NODE_UNARY:
		return check_unary(c, node);
	case NODE_BINARY:
		return check_binary(c, node);
	case NODE_COMPARE:
		return check_compare(c, node);
	case NODE_IN:
		return check_in(c, node);
	case NODE_AND:
	case NODE_OR:
		node->type = VALUE_TRUTH;
		return check_condition(c, node->left) && check_condition(c, node->right);
	case NODE_NOT:
		node->type = VALUE_TRUTH;
		return check_condition(c, node->left);
	case NODE_CHOICE:
		return check_choice(c, node);
	}
	return false;
}

bool
expression_check(struct compiler *c, struct node *node)
{
	return check_condition(c, node);
}
