/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations on numbers of 64 bits, for constants and for the evaluation alike.  Overflow wraps. */
#ifndef NETOBS_FORMULAS_NUMBER_H
#define NETOBS_FORMULAS_NUMBER_H

#include "formulas/code.h"
#include "formulas/lexer.h"

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
