/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of a definition to tokens; mistakes in it: the first one is reported, with its line and column. */
#ifndef NETOBS_FORMULAS_LEXER_H
#define NETOBS_FORMULAS_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "formulas/formula.h"
#include "formulas/match/address.h"

/* --- Mistakes in a definition: the first one is reported, with its line and column. --- */

struct source {
	const char *text; /* the definition, ended by a NUL */
	size_t length;
	struct formula_error *error;
	bool failed; /* `error` is set */
};

/* A part of the text. */
struct span {
	size_t at, length;
};

/* Reports a mistake at this offset, unless one is reported already.  Always returns false. */
bool mistake_report(struct source *source, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Bytes of an excerpt of the text, including the NUL. */
#define EXCERPT_MAX 48

/* Copies a part of the text for a message: control characters become spaces, bytes beyond ASCII '?'; "..." ends what
 * is too long. */
const char *mistake_excerpt(const struct source *source, struct span span, char excerpt[EXCERPT_MAX]);

/* --- Text of a definition to tokens. --- */

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
