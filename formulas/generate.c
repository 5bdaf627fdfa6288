/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees to code.  Instructions are made from the last to the first, so that each one knows those that may follow; every
 * function returns the number of the instruction where its part begins.
 */
#include <stdlib.h>
#include <string.h>

#include "formulas/code.h"
#include "formulas/match/pattern.h"
#include "formulas/syntax.h"

_Static_assert(FORMULA_TEXT_MAX <= PATTERN_MAX, "a pattern in a definition can be prepared");

#define INSTRUCTIONS_MAX (4 * NODES_MAX)

/* Ranges up to this number are tested one after the other, more are searched. */
#define CHAIN_MAX 4u

#define NO_USE USES_MAX

struct generated {
	struct instruction instruction; /* `place` has only the offset in the field */
	unsigned use, other;		/* of `place` and `other` */
};

struct generator {
	struct compiler *compiler;
	unsigned count;
	bool failed;
	struct generated made[INSTRUCTIONS_MAX]; /* the last one first */
};

/* What follows a test. */
struct targets {
	unsigned yes, no, absent;
};

struct range {
	uint64_t low, high;
};

static unsigned generate_test(struct generator *g, const struct node *node, struct targets to, unsigned reg);

static struct targets
targets_negate(struct targets to)
{
	return (struct targets){.yes = to.no, .no = to.yes, .absent = to.absent};
}

static struct generated *
generate_instruction(struct generator *g, unsigned operation, struct targets to, unsigned reg)
{
	struct generated *made;

	if (g->count == INSTRUCTIONS_MAX || reg + 1 >= REGISTERS_MAX) {
		g->failed = true;
		mistake_report(&g->compiler->source, 0, "the expression is nested too deep");
		g->count = g->count == INSTRUCTIONS_MAX ? 0 : g->count;
		reg = 0;
	}
	made = &g->made[g->count++];
	*made = (struct generated){.use = NO_USE, .other = NO_USE};
	made->instruction.operation = (uint8_t)operation;
	made->instruction.to = (uint8_t)reg;
	made->instruction.next[0] = (uint16_t)to.no;
	made->instruction.next[1] = (uint16_t)to.yes;
	made->instruction.next_absent = (uint16_t)to.absent;
	return made;
}

/* The number of the instruction made last. */
static unsigned
generate_last(const struct generator *g)
{
	return g->count - 1;
}

static void *
generate_allocate(struct generator *g, size_t size)
{
	void *memory = formula_allocate(g->compiler->formula, size);

	if (memory == NULL) {
		g->failed = true;
		mistake_report(&g->compiler->source, 0, "out of memory");
	}
	return memory;
}

static unsigned
generate_load_kind(const struct generator *g, const struct node *node)
{
	const struct field_info *field = g->compiler->uses[node->use].field;

	if (node->byte >= 0)
		return LOAD_U8;
	if (field->kind == FIELD_NETWORK)
		return LOAD_NETWORK;
	switch (field->size) {
	case 1: return field->kind == FIELD_SIGNED ? LOAD_I8 : LOAD_U8;
	case 2: return LOAD_U16;
	case 4: return field->kind == FIELD_SIGNED ? LOAD_I32 : LOAD_U32;
	default: return LOAD_64;
	}
}

static void
generate_set_field(struct generated *made, const struct node *node)
{
	made->use = node->use;
	made->instruction.place.offset = (uint16_t)(node->byte > 0 ? node->byte : 0);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static unsigned
generate_constant(struct generator *g, uint64_t number, unsigned reg, unsigned next)
{
	struct targets to = {next, next, next};

	generate_instruction(g, LOAD_CONSTANT, to, reg)->instruction.low = number;
	return generate_last(g);
}

/* Computes a number into the register; registers after it are free. */
static unsigned
generate_number(struct generator *g, const struct node *node, unsigned reg, unsigned next, unsigned absent)
{
	struct targets to = {next, next, absent};
	unsigned operation;

	switch (node->kind) {
	case NODE_NUMBER:
		return generate_constant(g, node->number, reg, next);
	case NODE_FIELD:
		generate_set_field(generate_instruction(g, LOAD_FIELD + generate_load_kind(g, node), to, reg), node);
		return generate_last(g);
	case NODE_UNARY:
		if (node->operation == TOKEN_PLUS)
			return generate_number(g, node->left, reg, next, absent);
		generate_instruction(g, number_operation(node->operation, true, false), to, reg);
		return generate_number(g, node->left, reg, generate_last(g), absent);
	case NODE_BINARY:
		generate_instruction(g, number_operation(node->operation, false, node->is_unsigned), to, reg);
		operation = generate_number(g, node->right, reg + 1, generate_last(g), absent);
		return generate_number(g, node->left, reg, operation, absent);
	case NODE_CHOICE:
		to.yes = generate_number(g, node->left, reg, next, absent);
		to.no = to.absent = generate_number(g, node->right, reg, next, absent);
		return generate_test(g, node->condition, to, reg);
	default:
		to.yes = generate_constant(g, 1, reg, next);
		to.no = to.absent = generate_constant(g, 0, reg, next);
		return generate_test(g, node, to, reg);
	}
}

/* ------------------------------------------------------------------------------------------------------------ tests */

/* Whether a number is a field, or a field and a constant mask. */
static const struct node *
generate_find_field(const struct node *node, uint64_t *mask)
{
	*mask = UINT64_MAX;
	if (node->kind == NODE_FIELD)
		return node;
	if (node->kind != NODE_BINARY || node->operation != TOKEN_BIT_AND)
		return NULL;
	if (node->left->kind == NODE_FIELD && node->right->kind == NODE_NUMBER) {
		*mask = node->right->number;
		return node->left;
	}
	if (node->right->kind == NODE_FIELD && node->left->kind == NODE_NUMBER) {
		*mask = node->left->number;
		return node->right;
	}
	return NULL;
}

static unsigned
generate_range(struct generator *g, const struct node *node, struct range range, struct targets to, unsigned reg)
{
	uint64_t mask;
	const struct node *field = generate_find_field(node, &mask);
	unsigned operation = field == NULL ? TEST_REGISTER : TEST_RANGE + generate_load_kind(g, field);
	struct generated *made = generate_instruction(g, operation, to, reg);

	made->instruction.mask = mask;
	made->instruction.low = range.low;
	made->instruction.span = range.high - range.low;
	if (field == NULL)
		return generate_number(g, node, reg, generate_last(g), to.absent);
	generate_set_field(made, field);
	return generate_last(g);
}

/* Compares with a constant: a test whether the number is in a range. */
static unsigned
generate_compare_constant(struct generator *g, const struct node *node, enum token_kind operation, uint64_t constant,
			  struct targets to, unsigned reg)
{
	uint64_t low = node->is_unsigned ? 0 : (uint64_t)INT64_MIN;
	uint64_t high = node->is_unsigned ? UINT64_MAX : INT64_MAX;

	if (operation == TOKEN_NOT_EQUAL || operation == TOKEN_MORE || operation == TOKEN_LESS)
		to = targets_negate(to);
	switch (operation) {
	case TOKEN_EQUAL:
	case TOKEN_NOT_EQUAL:
		return generate_range(g, node, (struct range){constant, constant}, to, reg);
	case TOKEN_LESS_EQUAL:
	case TOKEN_MORE:
		return generate_range(g, node, (struct range){low, constant}, to, reg);
	default: /* TOKEN_MORE_EQUAL, TOKEN_LESS */
		return generate_range(g, node, (struct range){constant, high}, to, reg);
	}
}

/* The operator with its operands swapped. */
static enum token_kind
generate_mirror(enum token_kind operation)
{
	switch (operation) {
	case TOKEN_LESS: return TOKEN_MORE;
	case TOKEN_LESS_EQUAL: return TOKEN_MORE_EQUAL;
	case TOKEN_MORE: return TOKEN_LESS;
	case TOKEN_MORE_EQUAL: return TOKEN_LESS_EQUAL;
	default: return operation;
	}
}

/* Whether left < right, or left == right, for operands of either sign. */
static unsigned
generate_compare_numbers(struct generator *g, bool equal, const struct node *left, const struct node *right,
			 struct targets to, unsigned reg)
{
	static const uint8_t less[2][2] = {{TEST_LESS, TEST_LESS_MIXED}, {TEST_MIXED_LESS, TEST_LESS_UNSIGNED}};
	unsigned operation = less[left->is_unsigned][right->is_unsigned], second;

	if (equal)
		operation = left->is_unsigned == right->is_unsigned ? TEST_EQUAL : TEST_EQUAL_MIXED;
	generate_instruction(g, operation, to, reg);
	second = generate_number(g, right, reg + 1, generate_last(g), to.absent);
	return generate_number(g, left, reg, second, to.absent);
}

static bool
generate_is_constant_for(const struct node *constant, const struct node *other)
{
	return constant->kind == NODE_NUMBER && (other->is_unsigned || !constant->is_unsigned);
}

static unsigned
generate_compare(struct generator *g, const struct node *node, struct targets to, unsigned reg)
{
	const struct node *left = node->left, *right = node->right;

	if (generate_is_constant_for(right, left))
		return generate_compare_constant(g, left, node->operation, right->number, to, reg);
	if (generate_is_constant_for(left, right))
		return generate_compare_constant(g, right, generate_mirror(node->operation), left->number, to, reg);
	switch (node->operation) {
	case TOKEN_EQUAL:
		return generate_compare_numbers(g, true, left, right, to, reg);
	case TOKEN_NOT_EQUAL:
		return generate_compare_numbers(g, true, left, right, targets_negate(to), reg);
	case TOKEN_LESS:
		return generate_compare_numbers(g, false, left, right, to, reg);
	case TOKEN_MORE_EQUAL:
		return generate_compare_numbers(g, false, left, right, targets_negate(to), reg);
	case TOKEN_MORE:
		return generate_compare_numbers(g, false, right, left, to, reg);
	default: /* TOKEN_LESS_EQUAL */
		return generate_compare_numbers(g, false, right, left, targets_negate(to), reg);
	}
}

static unsigned
generate_text(struct generator *g, unsigned operation, const struct node *field, const struct node *text,
	      struct targets to)
{
	struct generated *made = generate_instruction(g, operation, to, 0);

	made->use = field->use;
	if (text->kind == NODE_FIELD) {
		made->other = text->use;
		made->instruction.operation = TEST_TEXTS;
	} else {
		made->instruction.text = text->text;
		made->instruction.length = text->length;
	}
	return generate_last(g);
}

static unsigned
generate_pattern(struct generator *g, const struct node *field, const struct node *text, struct targets to)
{
	void *memory = generate_allocate(g, pattern_size(text->length));
	struct generated *made;

	if (memory == NULL)
		return NEXT_FALSE;
	made = generate_instruction(g, TEST_PATTERN, to, 0);
	made->use = field->use;
	made->instruction.pattern = pattern_prepare(memory, text->text, text->length);
	return generate_last(g);
}

static unsigned
generate_argument(struct generator *g, const struct node *node, struct targets to)
{
	if (node->kind == NODE_FIELD) /* a pointer in a struct */
		return generate_range(g, node, (struct range){0, 0}, targets_negate(to), 0);
	generate_instruction(g, TEST_ARGUMENT, to, 0)->use = node->use;
	return generate_last(g);
}

/* The addresses of an IPv4 prefix as numbers. */
static struct range
generate_address_range(const struct address *address)
{
	uint64_t low = (uint64_t)address->bytes[0] << 24 | (uint64_t)address->bytes[1] << 16 |
		       (uint64_t)address->bytes[2] << 8 | address->bytes[3];

	return (struct range){low, low | UINT32_MAX >> address->bits % 32 >> (address->bits == 32 ? 31 : 0) >>
					   (address->bits == 32)};
}

static unsigned
generate_address(struct generator *g, const struct node *field, const struct node *address, struct targets to)
{
	struct address_prefix *prefix;

	if (field->type == VALUE_NUMBER)
		return generate_range(g, field, generate_address_range(&address->address), to, 0);
	prefix = generate_allocate(g, sizeof *prefix);
	if (prefix == NULL)
		return NEXT_FALSE;
	address_prepare(prefix, &address->address);
	generate_instruction(g, TEST_PREFIX, to, 0);
	g->made[generate_last(g)].use = field->use;
	g->made[generate_last(g)].instruction.prefix = prefix;
	return generate_last(g);
}

static unsigned
generate_comparison(struct generator *g, const struct node *node, struct targets to, unsigned reg)
{
	const struct node *left = node->left, *right = node->right;

	if (node->operation == TOKEN_TILDE)
		return generate_pattern(g, left, right, to);
	if (left->type == VALUE_NULL || left->type == VALUE_ARGUMENT || left->type == VALUE_POINTER ||
	    right->type == VALUE_ARGUMENT || right->type == VALUE_POINTER) {
		bool is_left = left->type == VALUE_ARGUMENT || left->type == VALUE_POINTER;

		return generate_argument(g, is_left ? left : right,
					 node->operation == TOKEN_NOT_EQUAL ? to : targets_negate(to));
	}
	if (left->type != VALUE_TEXT && right->type != VALUE_ADDRESS)
		return generate_compare(g, node, to, reg);
	if (node->operation == TOKEN_NOT_EQUAL)
		to = targets_negate(to);
	if (right->type == VALUE_ADDRESS)
		return generate_address(g, left, right, to);
	return left->kind == NODE_FIELD ? generate_text(g, TEST_TEXT, left, right, to) :
					  generate_text(g, TEST_TEXT, right, left, to);
}

/* ------------------------------------------------------------------------------------------------------------- sets */

static int
generate_compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->low < right->low ? -1 : left->low > right->low;
}

/* The set of `count` ranges: sorted, and joined if they overlap. */
static const struct number_set *
generate_number_set(struct generator *g, struct range *ranges, unsigned count, uint64_t bias)
{
	struct number_set *set = generate_allocate(g, sizeof *set + count * sizeof set->ranges[0]);

	if (set == NULL)
		return NULL;
	set->bias = bias;
	for (unsigned i = 0; i < count; i++)
		ranges[i] = (struct range){ranges[i].low + bias, ranges[i].high + bias};
	qsort(ranges, count, sizeof ranges[0], generate_compare_ranges);
	for (unsigned i = 0; i < count; i++) {
		if (set->count > 0 && ranges[i].low <= set->ranges[set->count - 1].high) {
			if (ranges[i].high > set->ranges[set->count - 1].high)
				set->ranges[set->count - 1].high = ranges[i].high;
			continue;
		}
		set->ranges[set->count].low = ranges[i].low;
		set->ranges[set->count++].high = ranges[i].high;
	}
	return set;
}

static unsigned
generate_in_numbers(struct generator *g, const struct node *node, struct targets to, unsigned reg)
{
	struct range ranges[NODES_MAX];
	uint64_t bias = node->left->is_unsigned ? 0 : (uint64_t)INT64_MIN, mask;
	const struct number_set *set;
	unsigned count = 0, next = to.no;

	for (const struct node *item = node->right; item != NULL; item = item->next)
		if (item->kind == NODE_ADDRESS)
			ranges[count++] = generate_address_range(&item->address);
		else if (item->kind == NODE_RANGE)
			ranges[count++] = (struct range){item->left->number, item->right->number};
		else
			ranges[count++] = (struct range){item->number, item->number};
	set = generate_number_set(g, ranges, count, bias);
	if (set == NULL)
		return NEXT_FALSE;
	if (set->count > CHAIN_MAX || generate_find_field(node->left, &mask) == NULL) {
		generate_instruction(g, TEST_SET, to, reg)->instruction.set = set;
		return generate_number(g, node->left, reg, generate_last(g), to.absent);
	}
	for (unsigned i = set->count; i-- > 0;) {
		struct range range = {set->ranges[i].low - bias, set->ranges[i].high - bias};

		next = generate_range(g, node->left, range, (struct targets){to.yes, next, to.absent}, reg);
	}
	return next;
}

/* The items of a set from the last one to the first. */
static unsigned
generate_in_texts(struct generator *g, const struct node *field, const struct node *item, struct targets to)
{
	const struct node *items[NODES_MAX];
	unsigned count = 0;

	for (; item != NULL; item = item->next)
		items[count++] = item;
	while (count-- > 0)
		to.no = items[count]->kind == NODE_ADDRESS ? generate_address(g, field, items[count], to) :
							     generate_text(g, TEST_TEXT, field, items[count], to);
	return to.no;
}

/* ------------------------------------------------------------------------------------------------------- conditions */

static unsigned
generate_test(struct generator *g, const struct node *node, struct targets to, unsigned reg)
{
	struct targets inner = to;

	to.absent = to.no;
	inner.absent = to.no;
	switch (node->kind) {
	case NODE_AND:
		inner.yes = generate_test(g, node->right, to, reg);
		return generate_test(g, node->left, inner, reg);
	case NODE_OR:
		inner.no = generate_test(g, node->right, to, reg);
		return generate_test(g, node->left, inner, reg);
	case NODE_NOT:
		return generate_test(g, node->left, targets_negate(to), reg);
	case NODE_CHOICE:
		inner.yes = generate_test(g, node->left, to, reg);
		inner.no = generate_test(g, node->right, to, reg);
		return generate_test(g, node->condition, inner, reg);
	case NODE_COMPARE:
		return generate_comparison(g, node, to, reg);
	case NODE_IN:
		if (node->left->type == VALUE_TEXT)
			return generate_in_texts(g, node->left, node->right, to);
		return generate_in_numbers(g, node, to, reg);
	case NODE_PCAP:
		generate_instruction(g, TEST_PCAP, to, reg)->instruction.pcap = node->pcap;
		return generate_last(g);
	case NODE_ARGUMENT:
		return generate_argument(g, node, to);
	case NODE_NUMBER:
		return node->number != 0 ? to.yes : to.no;
	default:
		return generate_range(g, node, (struct range){0, 0}, targets_negate(to), reg);
	}
}

/* --------------------------------------------------------------------------------------------------------- programs */

/* In the order of evaluation. */
static unsigned
generate_final_number(const struct generator *g, unsigned number)
{
	return number >= NEXT_FALSE ? number : g->count - 1 - number;
}

static struct field_place
generate_place(const struct generator *g, unsigned use, struct field_place place, unsigned probe)
{
	struct field_place result = {0};

	if (use != NO_USE) {
		result = g->compiler->uses[use].places[probe];
		result.offset = (uint16_t)(result.offset + place.offset);
	}
	return result;
}

/* The smallest and the largest number of a field's type. */
static struct range
generate_type_range(unsigned load, unsigned bits)
{
	if (load == LOAD_I8 || load == LOAD_I32)
		return (struct range){~(UINT64_MAX >> (65 - bits)), UINT64_MAX >> (65 - bits)};
	return (struct range){0, UINT64_MAX >> (64 - bits)};
}

/*
 * Makes TEST_RANGE a TEST_WORD if it can be: 8 bytes that contain the field are loaded, of a struct that has as many,
 * and the field is moved to their high end, where numbers with and without sign are compared alike.
 */
static void
generate_word_test(struct instruction *i, size_t struct_size)
{
	static const uint8_t sizes[LOAD_COUNT] = {1, 2, 4, 8, 1, 4, 4};
	unsigned load = i->operation - TEST_RANGE, bits, before;
	struct range type, range = {i->low, i->low + i->span};

	if (load == LOAD_NETWORK || struct_size < 8)
		return;
	bits = 8u * sizes[load];
	if (load == LOAD_I8 || load == LOAD_I32 || load == LOAD_64) {
		if (i->mask != UINT64_MAX)
			return;
	}
	if (load != LOAD_64) {
		type = generate_type_range(load, bits);
		range.low = (int64_t)range.low < (int64_t)type.low ? type.low : range.low;
		range.high = (int64_t)range.high > (int64_t)type.high ? type.high : range.high;
		if ((int64_t)range.low > (int64_t)range.high)
			return;
	}
	before = i->place.offset + 8u > struct_size ? i->place.offset + 8u - (unsigned)struct_size : 0;
	i->operation = TEST_WORD;
	i->place.offset = (uint16_t)(i->place.offset - before);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	i->shift = (uint8_t)(64 - bits - 8 * before);
#else
	i->shift = (uint8_t)(8 * before);
#endif
	i->mask <<= 64 - bits;
	i->low = range.low << (64 - bits);
	i->span = (range.high - range.low) << (64 - bits);
}

/* The program of a probe. */
static struct program *
generate_program(struct generator *g, unsigned entry, unsigned probe)
{
	struct compiler *c = g->compiler;
	struct program *program = generate_allocate(g, sizeof *program);
	struct instruction *code = generate_allocate(g, g->count * sizeof *code);
	struct field_place *reads = generate_allocate(g, c->use_count * sizeof *reads);

	if (program == NULL || code == NULL || reads == NULL)
		return NULL;
	program->entry = generate_final_number(g, entry);
	program->code = code;
	for (unsigned i = 0; i < g->count; i++) {
		struct instruction *to = &code[generate_final_number(g, i)];
		const struct generated *made = &g->made[i];

		*to = made->instruction;
		to->next[0] = (uint16_t)generate_final_number(g, to->next[0]);
		to->next[1] = (uint16_t)generate_final_number(g, to->next[1]);
		to->next_absent = (uint16_t)generate_final_number(g, to->next_absent);
		to->place = generate_place(g, made->use, made->instruction.place, probe);
		to->other = generate_place(g, made->other, made->instruction.other, probe);
		if (to->operation >= TEST_RANGE && to->operation < TEST_SET)
			generate_word_test(to, field_struct(c, (enum probe_id)probe, to->place.position)->size);
	}
	for (unsigned i = 0; i < c->formula->by.count; i++)
		program->by[i] = c->uses[c->by[i]].places[probe];
	for (unsigned i = 0; i < c->formula->distinct.count; i++)
		program->distinct[i] = c->uses[c->distinct[i]].places[probe];
	for (unsigned i = 0; i < c->use_count; i++)
		reads[i] = c->uses[i].places[probe];
	program->reads = reads;
	return program;
}

/* An earlier probe that has all fields at the same places; `probe` itself if there is none. */
static unsigned
generate_find_twin(const struct compiler *c, unsigned probe)
{
	for (unsigned i = 0; i < probe; i++) {
		bool same = c->formula->probes[i];

		for (unsigned j = 0; same && j < c->use_count; j++)
			same =
			    memcmp(&c->uses[j].places[i], &c->uses[j].places[probe], sizeof(struct field_place)) == 0;
		if (same)
			return i;
	}
	return probe;
}

/* The fields that the definition reads. */
static void
generate_reads(struct generator *g)
{
	struct formula *formula = g->compiler->formula;

	formula->read_count = g->compiler->use_count;
	formula->reads = generate_allocate(g, formula->read_count * sizeof *formula->reads);
	for (unsigned i = 0; formula->reads != NULL && i < formula->read_count; i++)
		formula->reads[i] = g->compiler->uses[i].field;
}

bool
code_generate(struct compiler *c, const struct node *node)
{
	struct generator *g = calloc(1, sizeof *g);
	struct targets to = {NEXT_TRUE, NEXT_FALSE, NEXT_FALSE};
	unsigned entry = NEXT_TRUE;
	bool good = false;

	if (g == NULL)
		return false;
	g->compiler = c;
	generate_reads(g);
	if (node != NULL)
		entry = generate_test(g, node, to, 0);
	for (unsigned i = 0; !g->failed && i < PROBE_COUNT; i++)
		if (c->formula->probes[i]) {
			unsigned twin = generate_find_twin(c, i);

			c->formula->programs[i] =
				twin != i ? c->formula->programs[twin] : generate_program(g, entry, i);
		}
	good = !g->failed;
	free(g);
	return good;
}
