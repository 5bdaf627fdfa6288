/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of an expression, and what a definition is compiled in. */
#ifndef NETOBS_FORMULAS_SYNTAX_H
#define NETOBS_FORMULAS_SYNTAX_H

#include "formulas/code.h"
#include "formulas/lexer.h"
#include "probes/manifest.h"

/* Most nodes of an expression, and most of them from the root to a leaf. */
#define NODES_MAX 768u
#define DEPTH_MAX 96u

/* Most fields and arguments that a definition reads. */
#define USES_MAX 64u

enum node_kind {
	NODE_NUMBER,
	NODE_TEXT,
	NODE_ADDRESS,
	NODE_NULL,
	NODE_NAME,     /* a field or a word of an enum; until it is checked */
	NODE_FIELD,    /* a field, or one byte of it */
	NODE_ARGUMENT, /* args[N] */
	NODE_PCAP,
	NODE_UNARY,   /* - ~ of `left` */
	NODE_BINARY,  /* arithmetic */
	NODE_COMPARE, /* == != < <= > >=; ~ with a pattern */
	NODE_IN,      /* `left` in the list of items that begins with `right` */
	NODE_RANGE,   /* an item of a set: `left`..`right` */
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_CHOICE, /* `condition` ? `left` : `right` */
};

enum value_type {
	VALUE_NUMBER,
	VALUE_TEXT,
	VALUE_ADDRESS,
	VALUE_NULL,
	VALUE_ARGUMENT,
	VALUE_POINTER,
	VALUE_BYTES,
	VALUE_WORD, /* a word, or a combination of words, whose enum is not known yet */
	VALUE_TRUTH,
};

struct node {
	enum node_kind kind;
	enum value_type type;
	enum token_kind operation; /* of NODE_UNARY, NODE_BINARY and NODE_COMPARE */
	bool is_unsigned;	   /* a number of 64 bits without sign */
	bool in_parentheses;
	unsigned depth;
	struct span span;
	struct node *left, *right, *condition;
	struct node *next; /* item of a set */
	uint64_t number;
	enum dimension dimension;      /* of a number with a unit that has not been converted */
	enum field_unit unit;	       /* of a field, and of what is computed from it */
	const struct enum_info *words; /* of a field, and of what is computed from it */
	int position;		       /* NODE_NAME and NODE_ARGUMENT: N of args[N], -1 without */
	int byte;		       /* NODE_NAME and NODE_FIELD: index in a field of bytes, -1 without */
	unsigned use;		       /* NODE_FIELD and NODE_ARGUMENT */
	const char *text;	       /* NODE_TEXT and NODE_PCAP: decoded */
	size_t length;
	struct address address;
	const struct pcap_test *pcap;
};

/* A field or an argument that the definition reads. */
struct use {
	const struct field_info *field; /* of the first probe; NULL: the argument as a whole */
	struct field_place places[PROBE_COUNT];
};

struct compiler {
	struct source source;
	struct lexer lexer;
	struct token token; /* the present one */
	size_t previous_end; /* of the token before `token` */
	struct formula *formula;
	const struct struct_info *row; /* args[] of connrec_t have these fields */
	struct node nodes[NODES_MAX];
	unsigned node_count;
	unsigned nesting; /* of parentheses and operators before their operand */
	struct use uses[USES_MAX];
	unsigned use_count;
	unsigned by[FIELD_LIST_MAX], distinct[FIELD_LIST_MAX]; /* uses */
};

/* Advances to the next token; returns false with a mistake. */
bool compiler_advance(struct compiler *c);

/* Advances over a token of this kind; reports what is expected otherwise. */
bool compiler_expect(struct compiler *c, enum token_kind kind, const char *expected);

/* Reports "EXPECTED is expected, not TOKEN" at the present token. */
bool compiler_fail_expected(struct compiler *c, const char *expected);

/* Whether the present token is this name. */
bool compiler_at_name(const struct compiler *c, const char *name);

/* Reads an expression from the present token on; NULL with a mistake. */
struct node *expression_parse(struct compiler *c);

/* Resolves names, units and words and checks types; the tree is a condition.  Returns false with a mistake. */
bool expression_check(struct compiler *c, struct node *node);

/* Reads a field of a list, by its name or as args[N]->FIELD: its use in `*use`. */
bool expression_parse_field(struct compiler *c, unsigned *use);

/* The use of the field `name` of the definition's probes; of args[position] unless that is negative.  Returns false
 * with a mistake. */
bool field_find_use(struct compiler *c, struct span name, int position, unsigned *use);

/* The struct of args[position] of a probe; NULL: a reserved position. */
const struct struct_info *field_struct(const struct compiler *c, enum probe_id probe, unsigned position);

/* Whether any struct has the field. */
bool field_is_known(const struct compiler *c, const char *name, size_t length);

/* The use of args[position] as a whole. */
bool field_find_argument(struct compiler *c, struct span at, int position, unsigned *use);

/* Writes the programs of all probes into the formula; `node` is NULL without an expression. */
bool code_generate(struct compiler *c, const struct node *node);

/* --- Checks of single operators; each returns false with a mistake. --- */

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

/* A text that the field never has: it is longer, or is not an address. */
bool check_text(struct compiler *c, const struct node *field, const struct node *literal);

bool check_pattern(struct compiler *c, struct node *node);

/* An address beside a field; the field is text of an address, or an IPv4 address as a number. */
bool check_address_field(struct compiler *c, const struct node *field, struct node *address);
bool check_compare_address(struct compiler *c, struct node *node);

#endif
