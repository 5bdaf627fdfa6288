/* SPDX-License-Identifier: BSD-2-Clause */
/* What the steps of a compilation share: memory of the formula, and the token that comes next. */
#include "formulas/syntax.h"

#include <stdlib.h>
#include <string.h>

void *
formula_allocate(struct formula *formula, size_t size)
{
	struct formula_block *block = calloc(1, sizeof *block + size);

	if (block == NULL)
		return NULL;
	block->next = formula->blocks;
	formula->blocks = block;
	return block->bytes;
}

/* ----------------------------------------------------------------------------------------------------------- tokens */

bool
compiler_advance(struct compiler *c)
{
	c->previous_end = c->token.span.at + c->token.span.length;
	return lexer_next(&c->lexer, &c->token);
}

bool
compiler_fail_expected(struct compiler *c, const char *expected)
{
	char excerpt[EXCERPT_MAX];

	if (c->token.kind == TOKEN_END)
		return mistake_report(&c->source, c->token.span.at, "expected at the end: %s", expected);
	return mistake_report(&c->source, c->token.span.at, "expected before %s: %s",
			      mistake_excerpt(&c->source, c->token.span, excerpt), expected);
}

bool
compiler_expect(struct compiler *c, enum token_kind kind, const char *expected)
{
	if (c->token.kind != kind)
		return compiler_fail_expected(c, expected);
	return compiler_advance(c);
}

bool
compiler_at_name(const struct compiler *c, const char *name)
{
	return c->token.kind == TOKEN_NAME && strlen(name) == c->token.span.length &&
	       memcmp(c->source.text + c->token.span.at, name, c->token.span.length) == 0;
}
