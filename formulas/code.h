/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compiled formula.
 *
 * An instruction tests something, or computes a number into a register, and names the instruction that follows; && || !
 * and ?: need none.  All of these lead forwards, so that every evaluation ends.  If an argument that is read is absent,
 * the innermost test that contains the read is false: `next_absent`.
 */
#ifndef NETOBS_FORMULAS_CODE_H
#define NETOBS_FORMULAS_CODE_H

#include "formulas/formula.h"
#include "formulas/lexer.h"
#include "formulas/match/address.h"
#include "probes/manifest.h"

/* Numbers that an evaluation holds at a time, at most. */
#define REGISTERS_MAX 32u

/* Most fields after "by", or another word that lists fields, and most bytes of their values. */
#define FIELD_LIST_MAX	 4u
#define FIELD_VALUES_MAX 512u

/* In place of the number of an instruction: the end. */
#define NEXT_FALSE 0xfffeu
#define NEXT_TRUE  0xffffu

/* Operations on numbers come once for each type of a field, in this order. */
enum load {
	LOAD_U8,
	LOAD_U16,
	LOAD_U32,
	LOAD_64,
	LOAD_I8,
	LOAD_I32,
	LOAD_NETWORK,
	LOAD_COUNT
};

enum operation {
	/* Tests: next[0] if false, next[1] if true. */
	TEST_WORD,				/* TEST_RANGE in one step */
	TEST_RANGE,				/* a field and `mask` is in the range; for each `load` */
	TEST_SET = TEST_RANGE + LOAD_COUNT,	/* register `to` is in the set */
	TEST_REGISTER,				/* register `to` is in the range */
	TEST_EQUAL,				/* register `to` and the next one */
	TEST_LESS,
	TEST_LESS_UNSIGNED,
	TEST_LESS_MIXED,  /* signed < unsigned */
	TEST_MIXED_LESS,  /* unsigned < signed */
	TEST_EQUAL_MIXED, /* one is signed, one is unsigned: equal if neither is negative */
	TEST_TEXT,	  /* a field is the text */
	TEST_TEXTS,	  /* a field is the other field */
	TEST_PATTERN,	  /* a field matches the pattern */
	TEST_PREFIX,	  /* the address in a field is in the prefix */
	TEST_ARGUMENT,	  /* an argument is not absent */
	TEST_PCAP,	  /* the frame matches */
	/* Numbers: next[1] follows. */
	LOAD_FIELD,				/* to register `to`; for each `load` */
	LOAD_CONSTANT = LOAD_FIELD + LOAD_COUNT,
	COMPUTE_NEGATE, /* register `to` */
	COMPUTE_COMPLEMENT,
	COMPUTE_ADD, /* register `to` and the next one, to register `to` */
	COMPUTE_SUBTRACT,
	COMPUTE_MULTIPLY,
	COMPUTE_DIVIDE,
	COMPUTE_DIVIDE_UNSIGNED,
	COMPUTE_MODULO,
	COMPUTE_MODULO_UNSIGNED,
	COMPUTE_SHIFT_LEFT,
	COMPUTE_SHIFT_RIGHT,
	COMPUTE_SHIFT_RIGHT_UNSIGNED,
	COMPUTE_AND,
	COMPUTE_XOR,
	COMPUTE_OR,
};

/* Where a probe has a field. */
struct field_place {
	uint8_t position; /* of the argument */
	bool is_text;
	uint16_t offset;
	uint16_t size;
};

/* Ranges in ascending order, as numbers without sign; `bias` is added to a value first. */
struct number_set {
	uint64_t bias;
	unsigned count;
	struct {
		uint64_t low, high;
	} ranges[];
};

struct instruction {
	uint8_t operation;
	union {
		uint8_t to;
		uint8_t shift; /* TEST_WORD: moves the field to the high end of the 8 bytes from the offset on */
	};
	uint16_t next[2], next_absent;
	struct field_place place, other;
	union {
		struct {
			uint64_t mask, low, span; /* in the range: value - low <= span */
		};
		struct {
			const char *text;
			size_t length;
		};
		const struct address_prefix *prefix;
		const struct number_set *set;
		const struct pattern *pattern;
		const struct pcap_test *pcap;
	};
};

/* The code for all probes that have the fields at the same places. */
struct program {
	unsigned entry; /* the first instruction, NEXT_TRUE or NEXT_FALSE */
	struct field_place by[FIELD_LIST_MAX], distinct[FIELD_LIST_MAX];
	const struct field_place *reads; /* of all fields and arguments that the definition reads */
	const struct instruction *code;
};

/* Fields whose values are kept together; the size of a field is the same in all probes. */
struct field_list {
	unsigned count;
	size_t size; /* bytes of all values */
	const struct field_info *fields[FIELD_LIST_MAX];
};

/* What a formula waits for after a firing for which its expression is true. */
enum formula_wait_kind {
	WAIT_NONE,
	WAIT_HELD,   /* "for DURATION": no firing with the same values for which it is false */
	WAIT_ABSENT, /* "no PROBE within DURATION": no firing of `until` with the same values */
};

struct formula {
	char name[FORMULA_NAME_MAX + 1];
	char text[FORMULA_TEXT_MAX + 1];
	bool probes[PROBE_COUNT];
	bool is_counted;
	unsigned times; /* of the threshold, 0 without one */
	uint64_t duration_ns; /* of the threshold or wait */
	struct field_list by, distinct; /* of the threshold or wait */
	enum formula_wait_kind wait;
	struct formula *until; /* WAIT_ABSENT: probes, expression and `by` of what is absent */
	const struct field_info **reads; /* in the order of the definition; NULL: an argument as a whole */
	unsigned read_count;
	const struct program *programs[PROBE_COUNT];
	struct formula_block *blocks; /* the memory of programs, sets, patterns and texts */
	struct pcap_test *pcap_tests;
};

/* Memory of a formula. */
struct formula_block {
	struct formula_block *next;
	_Alignas(max_align_t) char bytes[];
};

/* Memory that lives as long as the formula, set to 0; NULL if out of memory. */
void *formula_allocate(struct formula *formula, size_t size);

/* --- Units of fields; those of constants, 100ms and 1MB, are in base/units.h. --- */

enum dimension field_dimension(enum field_unit unit);

/* ns or bytes in one of a field's unit. */
uint64_t field_unit_factor(enum field_unit unit);

/* "us" */
const char *field_unit_name(enum field_unit unit);

/* --- Operations on numbers of 64 bits, for constants and for the evaluation alike.  Overflow wraps. --- */

static inline enum operation
number_operation(enum token_kind token, bool is_unary, bool is_unsigned)
{
	switch (token) {
	case TOKEN_PLUS: return COMPUTE_ADD;
	case TOKEN_MINUS: return is_unary ? COMPUTE_NEGATE : COMPUTE_SUBTRACT;
	case TOKEN_TILDE: return COMPUTE_COMPLEMENT;
	case TOKEN_TIMES: return COMPUTE_MULTIPLY;
	case TOKEN_DIVIDE: return is_unsigned ? COMPUTE_DIVIDE_UNSIGNED : COMPUTE_DIVIDE;
	case TOKEN_MODULO: return is_unsigned ? COMPUTE_MODULO_UNSIGNED : COMPUTE_MODULO;
	case TOKEN_SHIFT_LEFT: return COMPUTE_SHIFT_LEFT;
	case TOKEN_SHIFT_RIGHT: return is_unsigned ? COMPUTE_SHIFT_RIGHT_UNSIGNED : COMPUTE_SHIFT_RIGHT;
	case TOKEN_BIT_AND: return COMPUTE_AND;
	case TOKEN_BIT_XOR: return COMPUTE_XOR;
	default: return COMPUTE_OR;
	}
}

/* Whether the operation has a result: not a division by 0, nor a shift by less than 0 or more than 63 bits. */
static inline bool
number_is_defined(unsigned operation, uint64_t right)
{
	switch (operation) {
	case COMPUTE_DIVIDE:
	case COMPUTE_DIVIDE_UNSIGNED:
	case COMPUTE_MODULO:
	case COMPUTE_MODULO_UNSIGNED:
		return right != 0;
	case COMPUTE_SHIFT_LEFT:
	case COMPUTE_SHIFT_RIGHT:
	case COMPUTE_SHIFT_RIGHT_UNSIGNED:
		return right < 64;
	default:
		return true;
	}
}

/* The result of a defined operation. */
static inline uint64_t
number_compute(unsigned operation, uint64_t left, uint64_t right)
{
	switch (operation) {
	case COMPUTE_NEGATE: return 0 - left;
	case COMPUTE_COMPLEMENT: return ~left;
	case COMPUTE_ADD: return left + right;
	case COMPUTE_SUBTRACT: return left - right;
	case COMPUTE_MULTIPLY: return left * right;
	case COMPUTE_DIVIDE: /* the smallest number by -1 overflows */
		return right == UINT64_MAX ? 0 - left : (uint64_t)((int64_t)left / (int64_t)right);
	case COMPUTE_DIVIDE_UNSIGNED: return left / right;
	case COMPUTE_MODULO: return right == UINT64_MAX ? 0 : (uint64_t)((int64_t)left % (int64_t)right);
	case COMPUTE_MODULO_UNSIGNED: return left % right;
	case COMPUTE_SHIFT_LEFT: return left << right;
	case COMPUTE_SHIFT_RIGHT: return (uint64_t)((int64_t)left >> right);
	case COMPUTE_SHIFT_RIGHT_UNSIGNED: return left >> right;
	case COMPUTE_AND: return left & right;
	case COMPUTE_XOR: return left ^ right;
	default: return left | right;
	}
}

#endif
