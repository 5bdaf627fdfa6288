/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions to trees: C's operators and their precedence, by precedence climbing. */
#include <string.h>

#include "formulas/match/pcap_test.h"
#include "formulas/syntax.h"
#include "base/units.h"

/* Parentheses and operators before an operand, at most. */
#define NESTING_MAX 48u

/* Higher binds tighter. */
enum precedence {
	PRECEDENCE_OR = 1,
	PRECEDENCE_AND,
	PRECEDENCE_BIT_OR,
	PRECEDENCE_BIT_XOR,
	PRECEDENCE_BIT_AND,
	PRECEDENCE_EQUAL,
	PRECEDENCE_LESS,
	PRECEDENCE_SHIFT,
	PRECEDENCE_ADD,
	PRECEDENCE_MULTIPLY,
};

static const struct {
	uint8_t precedence; /* 0: no binary operator */
	uint8_t kind;
} binary_operators[TOKEN_TILDE + 1] = {
	[TOKEN_OR] = {PRECEDENCE_OR, NODE_OR},
	[TOKEN_AND] = {PRECEDENCE_AND, NODE_AND},
	[TOKEN_BIT_OR] = {PRECEDENCE_BIT_OR, NODE_BINARY},
	[TOKEN_BIT_XOR] = {PRECEDENCE_BIT_XOR, NODE_BINARY},
	[TOKEN_BIT_AND] = {PRECEDENCE_BIT_AND, NODE_BINARY},
	[TOKEN_EQUAL] = {PRECEDENCE_EQUAL, NODE_COMPARE},
	[TOKEN_NOT_EQUAL] = {PRECEDENCE_EQUAL, NODE_COMPARE},
	[TOKEN_TILDE] = {PRECEDENCE_EQUAL, NODE_COMPARE},
	[TOKEN_LESS] = {PRECEDENCE_LESS, NODE_COMPARE},
	[TOKEN_LESS_EQUAL] = {PRECEDENCE_LESS, NODE_COMPARE},
	[TOKEN_MORE] = {PRECEDENCE_LESS, NODE_COMPARE},
	[TOKEN_MORE_EQUAL] = {PRECEDENCE_LESS, NODE_COMPARE},
	[TOKEN_SHIFT_LEFT] = {PRECEDENCE_SHIFT, NODE_BINARY},
	[TOKEN_SHIFT_RIGHT] = {PRECEDENCE_SHIFT, NODE_BINARY},
	[TOKEN_PLUS] = {PRECEDENCE_ADD, NODE_BINARY},
	[TOKEN_MINUS] = {PRECEDENCE_ADD, NODE_BINARY},
	[TOKEN_TIMES] = {PRECEDENCE_MULTIPLY, NODE_BINARY},
	[TOKEN_DIVIDE] = {PRECEDENCE_MULTIPLY, NODE_BINARY},
	[TOKEN_MODULO] = {PRECEDENCE_MULTIPLY, NODE_BINARY},
};

static struct node *expression_parse_unary(struct compiler *c);

static struct node *
node_new(struct compiler *c, enum node_kind kind, struct span span)
{
	struct node *node = &c->nodes[c->node_count];

	if (c->node_count == NODES_MAX) {
		mistake_report(&c->source, span.at, "the expression is too long: it has more than %u parts", NODES_MAX);
		return NULL;
	}
	c->node_count++;
	*node = (struct node){.kind = kind, .span = span, .position = -1, .byte = -1, .depth = 1};
	return node;
}

/* Joins two operands, of which the right one may be NULL for an operator with one. */
static struct node *
node_join(struct compiler *c, enum node_kind kind, struct token operation, struct node *left, struct node *right)
{
	size_t at = left->span.at < operation.span.at ? left->span.at : operation.span.at;
	struct node *last = right != NULL ? right : left;
	struct node *node = node_new(c, kind, (struct span){at, last->span.at + last->span.length - at});

	if (node == NULL)
		return NULL;
	node->operation = operation.kind;
	node->left = left;
	node->right = right;
	node->depth = 1 + (last->depth > left->depth ? last->depth : left->depth);
	if (node->depth <= DEPTH_MAX)
		return node;
	mistake_report(&c->source, operation.span.at, "the expression is too deep: more than %u operators in a chain",
		       DEPTH_MAX);
	return NULL;
}

/* --------------------------------------------------------------------------------------------------------- operands */

static struct node *
expression_parse_number(struct compiler *c)
{
	struct node *node = node_new(c, NODE_NUMBER, c->token.span);

	if (node == NULL)
		return NULL;
	node->number = c->token.number;
	node->dimension = c->token.dimension;
	node->is_unsigned = c->token.number > INT64_MAX;
	return compiler_advance(c) ? node : NULL;
}

static struct node *
expression_parse_text(struct compiler *c, enum node_kind kind)
{
	struct node *node = node_new(c, kind, c->token.span);
	char *bytes = formula_allocate(c->formula, c->token.span.length);

	if (node == NULL)
		return NULL;
	if (bytes == NULL) {
		mistake_report(&c->source, c->token.span.at, "out of memory");
		return NULL;
	}
	node->type = VALUE_TEXT;
	node->text = bytes;
	node->length = lexer_decode_text(&c->lexer, c->token.span, bytes);
	return compiler_advance(c) ? node : NULL;
}

static struct node *
expression_parse_address(struct compiler *c)
{
	struct node *node = node_new(c, NODE_ADDRESS, c->token.span);

	if (node == NULL)
		return NULL;
	node->type = VALUE_ADDRESS;
	node->address = c->token.address;
	return compiler_advance(c) ? node : NULL;
}

/* "[N]", a number below `limit`. */
static bool
expression_parse_index(struct compiler *c, uint64_t limit, int *index)
{
	if (!compiler_expect(c, TOKEN_OPEN_INDEX, "["))
		return false;
	if (c->token.kind != TOKEN_NUMBER || c->token.dimension != DIMENSION_NONE)
		return compiler_fail_expected(c, "a number");
	if (c->token.number >= limit)
		return mistake_report(&c->source, c->token.span.at, "the index must be 0 to %d", (int)limit - 1);
	*index = (int)c->token.number;
	return compiler_advance(c) && compiler_expect(c, TOKEN_CLOSE_INDEX, "]");
}

/* A name; after args[N]-> a field, else a field, a word or a keyword. */
static struct node *
expression_parse_name(struct compiler *c, int position)
{
	struct node *node = node_new(c, NODE_NAME, c->token.span);

	if (node == NULL || !compiler_advance(c))
		return NULL;
	if (c->token.kind == TOKEN_OPEN) {
		mistake_report(&c->source, node->span.at, "there is no function but pcap(\"...\"); ~ tests a pattern");
		return NULL;
	}
	node->position = position;
	if (c->token.kind == TOKEN_OPEN_INDEX && !expression_parse_index(c, FORMULA_TEXT_MAX, &node->byte))
		return NULL;
	return node;
}

/* args[N], args[N]->FIELD */
static struct node *
expression_parse_argument(struct compiler *c)
{
	struct node *node = node_new(c, NODE_ARGUMENT, c->token.span);

	if (node == NULL || !compiler_advance(c) || !expression_parse_index(c, 6, &node->position))
		return NULL;
	node->type = VALUE_ARGUMENT;
	node->span.length = c->previous_end - node->span.at;
	if (c->token.kind != TOKEN_ARROW)
		return node;
	if (!compiler_advance(c))
		return NULL;
	if (c->token.kind == TOKEN_NAME)
		return expression_parse_name(c, node->position);
	compiler_fail_expected(c, "a field");
	return NULL;
}

/* pcap("...") */
static struct node *
expression_parse_pcap(struct compiler *c)
{
	struct span at = c->token.span;
	struct node *node;
	struct pcap_test *test;
	char message[240];

	/* Names would be looked up for nothing, while capture waits for the reply. */
	if (c->row != &manifest_structs[STRUCT_CONNREC]) {
		mistake_report(&c->source, at.at, "pcap() tests a frame, and a connection has none");
		return NULL;
	}
	if (!compiler_advance(c) || !compiler_expect(c, TOKEN_OPEN, "("))
		return NULL;
	if (c->token.kind != TOKEN_TEXT) {
		compiler_fail_expected(c, "a filter as of tcpdump in double quotes");
		return NULL;
	}
	at = c->token.span;
	node = expression_parse_text(c, NODE_PCAP);
	if (node == NULL || !compiler_expect(c, TOKEN_CLOSE, ")"))
		return NULL;
	node->type = VALUE_TRUTH;
	test = pcap_test_new(node->text, c->formula->pcap_tests, message, sizeof message);
	node->pcap = test;
	if (test != NULL) {
		c->formula->pcap_tests = test;
		return node;
	}
	mistake_report(&c->source, at.at, "%s", message);
	return NULL;
}

static struct node *
expression_parse_parentheses(struct compiler *c)
{
	struct node *node;

	if (!compiler_advance(c))
		return NULL;
	node = expression_parse(c);
	if (node == NULL || !compiler_expect(c, TOKEN_CLOSE, ")"))
		return NULL;
	node->in_parentheses = true;
	return node;
}

static struct node *
expression_parse_operand(struct compiler *c)
{
	switch (c->token.kind) {
	case TOKEN_NUMBER:
		return expression_parse_number(c);
	case TOKEN_TEXT:
		return expression_parse_text(c, NODE_TEXT);
	case TOKEN_ADDRESS:
		return expression_parse_address(c);
	case TOKEN_OPEN:
		return expression_parse_parentheses(c);
	case TOKEN_NAME:
		if (compiler_at_name(c, "args"))
			return expression_parse_argument(c);
		if (compiler_at_name(c, "pcap"))
			return expression_parse_pcap(c);
		if (compiler_at_name(c, "not")) {
			mistake_report(&c->source, c->token.span.at, "not is written !, as in !(a == b)");
			return NULL;
		}
		if (compiler_at_name(c, "NULL")) {
			struct node *node = node_new(c, NODE_NULL, c->token.span);

			if (node != NULL)
				node->type = VALUE_NULL;
			return compiler_advance(c) ? node : NULL;
		}
		return expression_parse_name(c, -1);
	default:
		if (c->token.kind == TOKEN_DIVIDE && c->node_count == 0)
			mistake_report(&c->source, c->token.span.at, "a predicate of D stands without its slashes");
		compiler_fail_expected(c, "a field, a number or a text");
		return NULL;
	}
}

/* -------------------------------------------------------------------------------------------------------- operators */

static struct node *
expression_parse_unary(struct compiler *c)
{
	struct token operation = c->token;
	struct node *operand;

	if (++c->nesting > NESTING_MAX) {
		mistake_report(&c->source, operation.span.at, "the expression is nested too deep: %u levels at most",
			       NESTING_MAX);
		return NULL;
	}
	switch (operation.kind) {
	case TOKEN_NOT:
	case TOKEN_MINUS:
	case TOKEN_PLUS:
	case TOKEN_TILDE:
		operand = compiler_advance(c) ? expression_parse_unary(c) : NULL;
		if (operand != NULL)
			operand = node_join(c, operation.kind == TOKEN_NOT ? NODE_NOT : NODE_UNARY, operation, operand,
					    NULL);
		break;
	default:
		operand = expression_parse_operand(c);
	}
	c->nesting--;
	return operand;
}

/* An item of a set: a value, or two with ".." between them. */
static struct node *
expression_parse_item(struct compiler *c)
{
	struct node *item = expression_parse_unary(c), *high;
	struct token operation = c->token;

	if (item == NULL || operation.kind != TOKEN_RANGE)
		return item;
	high = compiler_advance(c) ? expression_parse_unary(c) : NULL;
	return high == NULL ? NULL : node_join(c, NODE_RANGE, operation, item, high);
}

/* After "in": {a, b, c..d}, or one address. */
static struct node *
expression_parse_set(struct compiler *c)
{
	struct node *first, *item;

	if (c->token.kind == TOKEN_ADDRESS)
		return expression_parse_address(c);
	if (!compiler_expect(c, TOKEN_OPEN_SET, "a set, as {80, 443, 8000..8080}, or a prefix, as 10.0.0.0/8"))
		return NULL;
	first = item = expression_parse_item(c);
	while (item != NULL && c->token.kind == TOKEN_COMMA) {
		item->next = compiler_advance(c) ? expression_parse_item(c) : NULL;
		item = item->next;
	}
	if (item != NULL && c->token.kind == TOKEN_MINUS) {
		mistake_report(&c->source, c->token.span.at,
			       "a range is written with .. between its numbers: {80..90}");
		return NULL;
	}
	if (item != NULL && binary_operators[c->token.kind].precedence != 0) {
		mistake_report(&c->source, c->token.span.at,
			       "an operator in a set must be in parentheses: {(SYN|ACK), RST}");
		return NULL;
	}
	if (item == NULL || !compiler_expect(c, TOKEN_CLOSE_SET, "\",\" or \"}\""))
		return NULL;
	return first;
}

static bool
expression_at_in(const struct compiler *c)
{
	return compiler_at_name(c, "in");
}

static unsigned
expression_precedence(const struct compiler *c)
{
	return expression_at_in(c) ? PRECEDENCE_LESS : binary_operators[c->token.kind].precedence;
}

static bool
expression_fail_at(struct compiler *c, const char *message)
{
	return mistake_report(&c->source, c->token.span.at, "%s", message);
}

/* What stands where an operator is expected, as other languages write it; returns false with a mistake. */
static bool
expression_check_operator(struct compiler *c)
{
	const char *text = c->source.text + c->token.span.at;

	if (c->token.kind == TOKEN_ASSIGN)
		return expression_fail_at(c, text[1] == '~' ? "~ tests a pattern, without =" :
							      "= defines; == compares");
	if (c->token.kind == TOKEN_NOT || compiler_at_name(c, "not"))
		return expression_fail_at(c, "the opposite of a test is !( ), as in !(a in {1, 2})");
	if (c->token.kind != TOKEN_NAME)
		return true;
	if (compiler_at_name(c, "and") || compiler_at_name(c, "or"))
		return expression_fail_at(c, "and is written &&, or is written ||");
	if (compiler_at_name(c, "by"))
		return expression_fail_at(c, "by belongs to a threshold, as in , 3 times in 1s by cs_cid");
	if (compiler_at_name(c, "like") || compiler_at_name(c, "matches") || compiler_at_name(c, "contains"))
		return expression_fail_at(c, "~ tests a pattern, as in cs_comm ~ \"ngin*\"");
	if (c->previous_end > 0 && strchr("0123456789", c->source.text[c->previous_end - 1]) != NULL &&
	    unit_find(text, c->token.span.length) != NULL)
		return expression_fail_at(c, "a unit follows its number without a space, as 100ms");
	return true;
}

/* Operators that bind at least as tight as `least`; all of them are left-associative. */
static struct node *
expression_parse_binary(struct compiler *c, unsigned least)
{
	struct node *left = expression_parse_unary(c), *right;

	while (left != NULL && expression_precedence(c) >= least) {
		struct token operation = c->token;
		bool in = expression_at_in(c);
		unsigned precedence = expression_precedence(c);

		if (!compiler_advance(c))
			return NULL;
		right = in ? expression_parse_set(c) : expression_parse_binary(c, precedence + 1);
		if (right == NULL)
			return NULL;
		left = node_join(c, in ? NODE_IN : binary_operators[operation.kind].kind, operation, left, right);
	}
	return left != NULL && expression_check_operator(c) ? left : NULL;
}

struct node *
expression_parse(struct compiler *c)
{
	struct node *condition = expression_parse_binary(c, PRECEDENCE_OR), *left, *right, *choice;
	struct token operation = c->token;

	if (condition == NULL || operation.kind != TOKEN_QUESTION)
		return condition;
	if (++c->nesting > NESTING_MAX) {
		mistake_report(&c->source, operation.span.at, "the expression is nested too deep: %u levels at most",
			       NESTING_MAX);
		return NULL;
	}
	left = compiler_advance(c) ? expression_parse(c) : NULL;
	if (left == NULL || !compiler_expect(c, TOKEN_COLON, ":"))
		return NULL;
	right = expression_parse(c);
	c->nesting--;
	choice = right == NULL ? NULL : node_join(c, NODE_CHOICE, operation, left, right);
	if (choice == NULL)
		return NULL;
	choice->condition = condition;
	choice->span = (struct span){condition->span.at, right->span.at + right->span.length - condition->span.at};
	choice->depth = choice->depth > condition->depth ? choice->depth : condition->depth + 1;
	return choice;
}

bool
expression_parse_field(struct compiler *c, unsigned *use)
{
	struct node *node;

	if (c->token.kind != TOKEN_NAME)
		return compiler_fail_expected(c, "a field");
	node = compiler_at_name(c, "args") ? expression_parse_argument(c) : expression_parse_name(c, -1);
	if (node == NULL)
		return false;
	if (node->kind != NODE_NAME || node->byte >= 0)
		return mistake_report(&c->source, node->span.at, "a field is expected, as cs_cid or args[1]->cs_cid");
	return field_find_use(c, node->span, node->position, use);
}
