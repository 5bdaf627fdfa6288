/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of a definition to tokens. */
#ifndef NETOBS_FORMULAS_LEXER_H
#define NETOBS_FORMULAS_LEXER_H

#include <stdint.h>

#include "base/units.h"
#include "formulas/match/address.h"
#include "formulas/mistake.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,    /* a field, a keyword or a word of an enum, which may have hyphens: fin-wait-1 */
	TOKEN_NUMBER,  /* perhaps with a unit */
	TOKEN_TEXT,    /* in double quotes */
	TOKEN_ADDRESS, /* 10.0.0.1, 10.0.0.0/8, 2001:db8::/32 */
	TOKEN_ASSIGN,
	TOKEN_COMMA,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OPEN_SET,
	TOKEN_CLOSE_SET,
	TOKEN_OPEN_INDEX,
	TOKEN_CLOSE_INDEX,
	TOKEN_RANGE, /* .. */
	TOKEN_ARROW,
	TOKEN_QUESTION,
	TOKEN_COLON,
	TOKEN_PLUS,
	TOKEN_MINUS,
	TOKEN_TIMES,
	TOKEN_DIVIDE,
	TOKEN_MODULO,
	TOKEN_SHIFT_LEFT,
	TOKEN_SHIFT_RIGHT,
	TOKEN_LESS,
	TOKEN_LESS_EQUAL,
	TOKEN_MORE,
	TOKEN_MORE_EQUAL,
	TOKEN_EQUAL,
	TOKEN_NOT_EQUAL,
	TOKEN_BIT_AND,
	TOKEN_BIT_XOR,
	TOKEN_BIT_OR,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_TILDE, /* complement, and the match of a pattern */
};

/* What a number with a unit measures. */
struct token {
	enum token_kind kind;
	struct span span;
	uint64_t number;	  /* TOKEN_NUMBER */
	enum dimension dimension; /* TOKEN_NUMBER */
	struct address address;	  /* TOKEN_ADDRESS */
};

struct lexer {
	struct source *source;
	size_t at; /* where the next token is searched */
};

/* Reads the next token; returns false with a mistake. */
bool lexer_next(struct lexer *lexer, struct token *token);

/* Reads a name of a formula or a probe, perhaps with wildcards: letters, digits, '-', '_', '*' and '?'.  A span of no
 * bytes if there is none. */
struct span lexer_next_probe(struct lexer *lexer);

/* The bytes of a text in double quotes, without them and with escapes replaced, in `bytes`, which has memory for the
 * span.  Returns the length. */
size_t lexer_decode_text(const struct lexer *lexer, struct span span, char *bytes);

/* "&&" */
const char *token_spelling(enum token_kind kind);

#endif
