/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of single operators; each returns false with a mistake. */
#ifndef NETOBS_FORMULAS_CHECK_H
#define NETOBS_FORMULAS_CHECK_H

#include "formulas/syntax.h"

/* The text of a node for a message. */
const char *check_excerpt(const struct compiler *c, const struct node *node, char excerpt[EXCERPT_MAX]);

/* Reports a word beside which no field stands, or a name that is nothing. */
bool check_fail_word(struct compiler *c, const struct node *node);

/* Reports a word that the enum does not have. */
bool check_fail_unknown_word(struct compiler *c, const struct node *node, const struct enum_info *info);

/* Replaces an operator on constants by its result. */
bool check_fold(struct compiler *c, struct node *node);

/* Converts the units of constants to that of the other operand. */
bool check_units_binary(struct compiler *c, struct node *node);
bool check_units_compare(struct compiler *c, struct node *left, struct node *right);

/* The unit of what is either operand, or their sum: UNIT_NONE if they have different ones. */
enum field_unit check_common_unit(const struct node *left, const struct node *right);

/* Reports two fields that count in different units. */
bool check_units_fields(struct compiler *c, const struct node *left, const struct node *right);

/* A constant that a field compared with it can never be. */
bool check_limits(struct compiler *c, const struct node *field, const struct node *constant);

/* a & b == c, of which C makes a & (b == c); likewise | and ^. */
bool check_precedence(struct compiler *c, const struct node *node);

/* a < b < c and !a == b, which mean something else than they seem to. */
bool check_chain(struct compiler *c, const struct node *node);

/* A text that the field never has: it is longer, or is no address. */
bool check_text(struct compiler *c, const struct node *field, const struct node *literal);

bool check_pattern(struct compiler *c, struct node *node);

/* An address beside a field; the field is text of an address, or an IPv4 address as a number. */
bool check_address_field(struct compiler *c, const struct node *field, struct node *address);
bool check_compare_address(struct compiler *c, struct node *node);

#endif
