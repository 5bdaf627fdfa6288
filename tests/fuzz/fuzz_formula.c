/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formulas over any arguments.  The first byte selects the probe, the second the arguments that are NULL, the third one
 * of two uses of the rest:
 *
 * Any text as a definition or, after "x = PROBE where ", as an expression.  A mistake has a place in the text and a
 * message of printable ASCII; a formula evaluates alike with arguments that are built on demand, inside !!( ), as an
 * operand of && || and ?:, and with further probes.
 *
 * Expressions of any shape, made from the bytes, and evaluated here from the fields as the manifest has them: the
 * formula has the same result.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/packet.h"
#include "formulas/formula.h"
#include "formulas/threshold.h"
#include "formulas/wait.h"
#include "probes/manifest.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX (FORMULA_TEXT_MAX + 1024)

/* The input that is left; zeros after its end. */
static const uint8_t *input;
static size_t input_left;

/* The arguments: each in memory of exactly its size, so that a read past its end is found. */
static const struct probe_info *probe;
static enum probe_id probe_id;
static void *arguments[6];
static struct frame frame;
static struct packet packet;
static unsigned built_on_demand;

static unsigned
take(void)
{
	if (input_left == 0)
		return 0;
	input_left--;
	return *input++;
}

static unsigned
take_below(unsigned limit)
{
	return take() % limit;
}

static uint64_t
take_number(void)
{
	uint64_t number = 0;

	for (unsigned bytes = take_below(9); bytes > 0; bytes--)
		number = number << 8 | take();
	return number;
}

/* -------------------------------------------------------------------------------------------------------- arguments */

static const void *
build_argument(struct firing *firing, unsigned position)
{
	must((firing->built >> position & 1) == 0);
	built_on_demand++;
	return arguments[position];
}

/* Text ends with a NUL, as in every firing. */
static void
end_texts(const struct struct_info *info, uint8_t *argument)
{
	for (size_t i = 0; i < info->field_count; i++)
		if (info->fields[i].kind == FIELD_TEXT)
			argument[info->fields[i].offset + info->fields[i].size - 1] = 0;
}

static void
begin_arguments(unsigned null_mask, const uint8_t *data, size_t size)
{
	for (unsigned i = 0; i < probe->arg_count; i++) {
		const struct struct_info *info = probe->args[i].type;
		uint8_t *argument;

		arguments[i] = NULL;
		if (info == NULL || (null_mask >> i & 1) != 0)
			continue;
		argument = arguments[i] = malloc(info->size);
		must(argument != NULL);
		for (size_t j = 0; j < info->size; j++)
			argument[j] = size == 0 ? 0 : data[(j + 7 * i) % size];
		end_texts(info, argument);
	}
	frame = (struct frame){.data = data, .caplen = (uint32_t)size, .len = (uint32_t)size, .dlt = null_mask % 2};
	packet.frame = &frame;
}

static void
end_arguments(void)
{
	for (unsigned i = 0; i < 6; i++) {
		free(arguments[i]);
		arguments[i] = NULL;
	}
}

static bool
evaluate(const struct formula *formula, bool on_demand)
{
	struct firing firing = {
	    .probe = probe_id, .build = build_argument, .built = on_demand ? 0 : 0x3f, .packet = &packet};

	built_on_demand = 0;
	for (unsigned i = 0; !on_demand && i < 6; i++)
		firing.args[i] = arguments[i];
	return formula_is_true(formula, &firing);
}

/* --------------------------------------------------------------------------------------------------------- any text */

static void
check_error(const char *text, const struct formula_error *error)
{
	unsigned line = 1, column = 1;
	bool in_text = false;

	must(error->message[0] != '\0' && strlen(error->message) < sizeof error->message);
	for (const char *c = error->message; *c != '\0'; c++)
		must(*c >= ' ' && *c <= '~');
	for (const char *c = text;; c++) {
		in_text = in_text || (line == error->line && column == error->column);
		if (*c == '\0')
			break;
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	must(in_text);
}

/* Compiles a definition of these parts, which are "" if they are not used. */
static struct formula *
compile(const char *probes, const char *before, const char *text, const char *after)
{
	static char definition[TEXT_MAX];
	struct formula_error error;
	struct formula *formula;

	snprintf(definition, sizeof definition, "%s%s%s%s", probes, before, text, after);
	formula = formula_compile(definition, &error);
	if (formula == NULL)
		check_error(definition, &error);
	else
		must(strcmp(formula_text(formula), definition) == 0);
	return formula;
}

/* A second formula that means the same, if it is one. */
static void
check_same(const char *before, const char *expression, const char *after, bool expected)
{
	char probes[100];
	struct formula *formula;

	snprintf(probes, sizeof probes, "x = tcp-send, udp-*, %s where ", probe->name);
	formula = compile(probes, before, expression, after);
	if (formula != NULL)
		must(evaluate(formula, false) == expected);
	formula_free(formula);
	snprintf(probes, sizeof probes, "x = %s where ", probe->name);
	formula = compile(probes, before, expression, after);

	if (formula != NULL)
		must(evaluate(formula, false) == expected);
	formula_free(formula);
}

/* The description of a match: printable, and not longer than its size. */
static void
check_description(const struct formula *formula)
{
	static const size_t sizes[] = {0, 1, 2, 41, 60, 100, 200, 512};
	const char *name = formula_name(formula);
	char text[512];

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct firing firing = {.probe = probe_id, .build = build_argument, .packet = &packet};

		formula_describe_match(formula, &firing, text, sizes[i]);
		if (sizes[i] == 0)
			continue;
		must(memchr(text, '\0', sizes[i]) != NULL);
		must(strncmp(text, name, sizes[i] <= strlen(name) ? sizes[i] - 1 : strlen(name)) == 0);
		for (const char *c = text; *c != '\0'; c++)
			must(*c >= ' ' && *c <= '~');
	}
}

/* A wait has one firing, with copies of the arguments. */
static void
check_wait(const struct formula *formula)
{
	static struct formula_waited waited;
	struct firing firing = {.probe = probe_id, .build = build_argument, .packet = &packet};
	struct formula_wait *wait = formula_wait_new(formula, 1);
	char text[200];

	must(wait != NULL);
	for (unsigned i = 0; i < 5; i++) {
		formula_wait_rejects(wait, &firing);
		formula_wait_read(wait, 0, &firing);
	}
	if (formula_wait_take(wait, 0, UINT64_MAX - 1, &waited))
		formula_describe_match(formula, &waited.firing, text, sizeof text);
	must(!formula_wait_take(wait, 0, UINT64_MAX - 1, &waited));
	must(formula_wait_dropped(wait) == 0);
	formula_wait_free(wait);
}

static void
check_formula(const struct formula *formula)
{
	bool result = evaluate(formula, false);
	struct formula_threshold *threshold;
	struct firing firing = {.probe = probe_id, .build = build_argument, .packet = &packet};

	must(evaluate(formula, true) == result);
	must(built_on_demand <= probe->arg_count);
	check_description(formula);
	if (formula_has_wait(formula))
		check_wait(formula);
	if (!formula_has_threshold(formula))
		return;
	threshold = formula_threshold_new(formula);
	must(threshold != NULL);
	for (unsigned i = 0; i < 5; i++)
		formula_threshold_count(threshold, &firing);
	must(formula_threshold_dropped(threshold) == 0);
	formula_threshold_free(threshold);
}

static void
fuzz_definition(const char *text)
{
	struct formula *formula = compile("", "", text, "");

	if (formula == NULL)
		return;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (formula_has_probe(formula, (enum probe_id)i)) {
			end_arguments();
			probe_id = (enum probe_id)i;
			probe = &manifest_probes[i];
			begin_arguments(0, (const uint8_t *)text, strlen(text));
			check_formula(formula);
		}
	formula_free(formula);
}

static void
fuzz_expression(const char *text)
{
	struct formula *formula;
	char probes[100];
	bool result;

	snprintf(probes, sizeof probes, "x = %s where ", probe->name);
	formula = compile(probes, "", text, "");
	if (formula == NULL)
		return;
	check_formula(formula);
	result = evaluate(formula, false);
	formula_free(formula);
	check_same("", text, "", result);
	check_same("!!(", text, ")", result);
	check_same("0 || (", text, ")", result);
	check_same("(", text, ") && 1", result);
	check_same("(", text, ") ? 1 : 0", result);
	check_same("(", text, ") ? 0 : 1", !result);
	check_same("\n\t", text, "\n", result);
}

/* ------------------------------------------------------------------------------------------------- made expressions */

/* A number as it is computed here, or absent. */
struct number {
	bool absent, is_unsigned;
	uint64_t bits;
};

/* What is made: text, and its value. */
static char made[TEXT_MAX];
static size_t made_length;

static bool make_condition(unsigned depth);
static struct number make_number(unsigned depth);

/* A text that is cut is longer than a definition may be. */
static void
write_made(const char *text)
{
	made_length += (size_t)snprintf(made + made_length, sizeof made - made_length, "%s", text);
	if (made_length > sizeof made - 1)
		made_length = sizeof made - 1;
	if (made_length > sizeof made - 200)
		input_left = 0; /* leaves follow */
}

static void
write_number(uint64_t bits, bool is_unsigned)
{
	char text[32];

	snprintf(text, sizeof text, is_unsigned || (int64_t)bits >= 0 ? "%" PRIu64 : "(-%" PRIu64 ")",
		 is_unsigned || (int64_t)bits >= 0 ? bits : 0 - bits);
	write_made(text);
}

/* The number of a field, by its type's name in the manifest. */
static struct number
read_field(const struct field_info *field, const uint8_t *argument)
{
	uint64_t bits = 0;
	bool is_signed = field->type[0] == 'i';

	if (argument == NULL)
		return (struct number){.absent = true, .is_unsigned = field->size == 8 && !is_signed};
	for (unsigned i = 0; i < field->size; i++) {
		unsigned byte = (unsigned)i;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		if (field->kind != FIELD_NETWORK)
			byte = (unsigned)field->size - 1 - i;
#endif
		bits = bits << 8 | argument[field->offset + byte];
	}
	if (is_signed && field->size < 8 && bits >> (8 * field->size - 1) != 0)
		bits |= UINT64_MAX << (8 * field->size);
	return (struct number){.bits = bits, .is_unsigned = field->size == 8 && !is_signed};
}

/* Fields that are compared with few texts or with nothing: addresses, names of states, numbers of the formula's own
 * firings. */
static bool
is_restricted(const struct field_info *field)
{
	return field->is_address || strstr(field->name, "_statestr") != NULL || strcmp(field->name, "pkt_seq") == 0 ||
	       strcmp(field->name, "cs_seq") == 0 || strcmp(field->name, "ci_seq") == 0 ||
	       strcmp(field->name, "cr_seq") == 0;
}

/* A field of any argument, of one of two kinds: numbers, or text.  NULL if the argument has no such field. */
static const struct field_info *
make_field(bool text, const uint8_t **argument)
{
	unsigned position = take_below(probe->arg_count), from = take();
	const struct struct_info *info = probe->args[position].type;
	char name[80];

	for (size_t i = 0; info != NULL && i < info->field_count; i++) {
		const struct field_info *field = &info->fields[(from + i) % info->field_count];

		if ((field->kind == FIELD_TEXT) != text || field->kind == FIELD_BYTES ||
		    field->kind == FIELD_POINTER || is_restricted(field))
			continue;
		snprintf(name, sizeof name, "args[%u]->%s", position, field->name);
		write_made(name);
		*argument = arguments[position];
		return field;
	}
	return NULL;
}

static struct number
make_constant(void)
{
	struct number number = {.bits = take_number()};

	number.is_unsigned = number.bits > INT64_MAX && take_below(2) == 0;
	write_number(number.bits, number.is_unsigned);
	/* The smallest number is a constant of 2^63, which has no sign, after a minus. */
	number.is_unsigned = number.is_unsigned || number.bits == (uint64_t)INT64_MIN;
	return number;
}

static uint64_t
divide(char operation, uint64_t a, uint64_t b)
{
	return operation == '/' ? a / b : a % b;
}

/* By the magnitudes: the quotient is negative if one operand is, the remainder if the dividend is. */
static uint64_t
divide_signed(char operation, uint64_t a, uint64_t b)
{
	bool a_negative = (int64_t)a < 0, b_negative = (int64_t)b < 0;
	uint64_t result = divide(operation, a_negative ? 0 - a : a, b_negative ? 0 - b : b);

	return (operation == '/' ? a_negative != b_negative : a_negative) ? 0 - result : result;
}

static struct number
compute(char operation, struct number a, struct number b)
{
	struct number result = {.absent = a.absent || b.absent, .is_unsigned = a.is_unsigned || b.is_unsigned};
	bool negative = !a.is_unsigned && (int64_t)a.bits < 0;

	if (operation == '<' || operation == '>')
		result.is_unsigned = a.is_unsigned;
	if (result.absent)
		return result;
	switch (operation) {
	case '+': result.bits = a.bits + b.bits; break;
	case '-': result.bits = a.bits - b.bits; break;
	case '*': result.bits = a.bits * b.bits; break;
	case '&': result.bits = a.bits & b.bits; break;
	case '|': result.bits = a.bits | b.bits; break;
	case '^': result.bits = a.bits ^ b.bits; break;
	case '/':
	case '%':
		result.absent = b.bits == 0;
		if (result.absent)
			return result;
		result.bits = result.is_unsigned ? divide(operation, a.bits, b.bits) :
						   divide_signed(operation, a.bits, b.bits);
		break;
	default: /* shifts */
		result.absent = b.bits > 63;
		if (!result.absent)
			result.bits = operation == '<' ? a.bits << b.bits :
				      negative	       ? ~(~a.bits >> b.bits) :
							 a.bits >> b.bits;
	}
	return result;
}

static struct number
make_binary(unsigned depth)
{
	static const struct {
		const char *text;
		char operation;
	} operations[] = {{" + ", '+'}, {" - ", '-'}, {" * ", '*'}, {" / ", '/'},   {" % ", '%'},
			  {" & ", '&'}, {" | ", '|'}, {" ^ ", '^'}, {" << ", '<'}, {" >> ", '>'}};
	unsigned operation = take_below(sizeof operations / sizeof operations[0]);
	struct number a, b;

	write_made("(");
	a = make_number(depth + 1);
	write_made(operations[operation].text);
	b = make_number(depth + 1);
	write_made(")");
	return compute(operations[operation].operation, a, b);
}

static struct number
make_choice(unsigned depth)
{
	struct number a, b;
	bool condition, is_unsigned;

	write_made("(");
	condition = make_condition(depth + 1);
	write_made(" ? ");
	a = make_number(depth + 1);
	write_made(" : ");
	b = make_number(depth + 1);
	write_made(")");
	is_unsigned = a.is_unsigned || b.is_unsigned;
	a = condition ? a : b;
	a.is_unsigned = is_unsigned;
	return a;
}

static struct number
make_number(unsigned depth)
{
	const struct field_info *field;
	const uint8_t *argument;
	struct number number = {0};

	switch (depth > 6 ? 0 : take_below(12)) {
	case 1:
	case 2:
		return make_binary(depth);
	case 3:
		write_made("(-");
		number = make_number(depth + 1);
		number.bits = 0 - number.bits;
		break;
	case 4:
		write_made("(~");
		number = make_number(depth + 1);
		number.bits = ~number.bits;
		break;
	case 5:
		return make_choice(depth);
	case 6:
		write_made("(!"); /* a number alone would not be 0 or 1 */
		number = (struct number){.bits = !make_condition(depth + 1)};
		break;
	default:
		field = take_below(4) == 0 ? NULL : make_field(false, &argument);
		return field == NULL ? make_constant() : read_field(field, argument);
	}
	write_made(")");
	return number;
}

/* Less than, equal to or greater than 0, as a is to b.  Of two negative numbers the bits have the same order. */
static int
compare(struct number a, struct number b)
{
	bool a_negative = !a.is_unsigned && (int64_t)a.bits < 0, b_negative = !b.is_unsigned && (int64_t)b.bits < 0;

	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	return a.bits < b.bits ? -1 : a.bits > b.bits;
}

/* A constant that is near to a number. */
static struct number
make_neighbour(struct number number)
{
	struct number result = {.bits = number.bits + take_below(5) - 2};

	result.is_unsigned = number.is_unsigned && result.bits > INT64_MAX;
	if (!number.is_unsigned && result.bits == (uint64_t)INT64_MIN)
		result.bits++;
	write_number(result.bits, result.is_unsigned);
	return result;
}

static bool
make_comparison(unsigned depth)
{
	static const char *const operations[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};
	unsigned operation = take_below(6);
	struct number a, b;

	write_made("(");
	a = make_number(depth + 1);
	write_made(operations[operation]);
	b = take_below(2) == 0 ? make_neighbour(a) : make_number(depth + 1);
	write_made(")");
	if (a.absent || b.absent)
		return false;
	switch (operation) {
	case 0: return compare(a, b) == 0;
	case 1: return compare(a, b) != 0;
	case 2: return compare(a, b) < 0;
	case 3: return compare(a, b) <= 0;
	case 4: return compare(a, b) > 0;
	default: return compare(a, b) >= 0;
	}
}

static bool
make_set(unsigned depth)
{
	struct number number, low = {0}, high = {0};
	bool found = false;

	write_made("(");
	number = make_number(depth + 1);
	write_made(" in {");
	for (unsigned items = 1 + take_below(8); items > 0; items--) {
		low.bits = take_below(3) == 0 ? number.bits - take_below(200) : take_number();
		low.is_unsigned = low.bits > INT64_MAX && (number.is_unsigned || take_below(8) == 0);
		high.bits = low.bits + take_below(200);
		high.is_unsigned = high.bits > INT64_MAX && (number.is_unsigned || low.is_unsigned);
		if (compare(high, low) < 0)
			high = low;
		write_number(low.bits, low.is_unsigned);
		write_made("..");
		write_number(high.bits, high.is_unsigned);
		write_made(items > 1 ? ", " : "})");
		found = found || (compare(number, low) >= 0 && compare(number, high) <= 0);
	}
	return found && !number.absent;
}

static bool
make_text_comparison(void)
{
	const uint8_t *argument;
	const struct field_info *field;
	size_t before = made_length;
	char literal[24] = "";
	bool equal = take_below(2) == 0;

	write_made("(");
	field = make_field(true, &argument);
	if (field == NULL) {
		made_length = before;
		write_made("1");
		return true;
	}
	for (unsigned i = 0; i + 1 < sizeof literal && i + 1 < field->size; i++) {
		char c = argument == NULL ? 'x' : (char)argument[field->offset + i];

		if ((c < '0' || c > '9') && (c < 'a' || c > 'z'))
			break;
		literal[i] = c;
	}
	write_made(equal ? " == \"" : " != \"");
	write_made(literal);
	write_made("\")");
	return argument != NULL && (strcmp((const char *)argument + field->offset, literal) == 0) == equal;
}

static bool
make_argument_test(void)
{
	unsigned position = take_below(probe->arg_count);
	bool equal = take_below(2) == 0;
	char text[32];

	snprintf(text, sizeof text, "(args[%u] %s NULL)", position, equal ? "==" : "!=");
	write_made(text);
	return (arguments[position] == NULL) == equal;
}

static bool
make_pair(unsigned depth, bool both)
{
	bool left, right;

	write_made("(");
	left = make_condition(depth + 1);
	write_made(both ? " && " : " || ");
	right = make_condition(depth + 1);
	write_made(")");
	return both ? left && right : left || right;
}

static bool
make_condition(unsigned depth)
{
	struct number number;
	bool result;

	switch (depth > 6 ? 0 : take_below(12)) {
	case 1:
	case 2:
		return make_pair(depth, true);
	case 3:
		return make_pair(depth, false);
	case 4:
		write_made("(!");
		result = !make_condition(depth + 1);
		write_made(")");
		return result;
	case 5:
		return make_set(depth);
	case 6:
		return make_text_comparison();
	case 7:
		return make_argument_test();
	case 8:
		number = make_number(depth + 1);
		return !number.absent && number.bits != 0;
	default:
		return make_comparison(depth);
	}
}

/* Mistakes that made expressions have: constants that cannot be, and limits. */
static void
check_made_mistake(const struct formula_error *error)
{
	static const char *const allowed[] = {"never", "division by 0", "a shift is by", "too long",
					      "too deep", "is longer", "in parentheses", "alone is not",
					      "the range is empty", "more than", "convert one with",
					      "two numbers are compared", "a field is expected before"};

	for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
		if (strstr(error->message, allowed[i]) != NULL)
			return;
	fprintf(stderr, "%s\n%u:%u: %s\n", made, error->line, error->column, error->message);
	abort();
}

static void
fuzz_made(void)
{
	struct formula_error error;
	struct formula *formula;
	bool expected;

	made_length = 0;
	write_made("x = ");
	write_made(probe->name);
	write_made(" where ");
	expected = make_condition(0);
	formula = formula_compile(made, &error);
	if (formula == NULL) {
		check_made_mistake(&error);
		return;
	}
	if (evaluate(formula, false) != expected) {
		fprintf(stderr, "%s\nis not %d\n", made, expected);
		abort();
	}
	must(evaluate(formula, true) == expected);
	formula_free(formula);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[FORMULA_TEXT_MAX + 100] = "";
	unsigned null_mask, use;

	input = data;
	input_left = size;
	probe_id = (enum probe_id)take_below(PROBE_COUNT);
	probe = &manifest_probes[probe_id];
	null_mask = take();
	use = take_below(4);
	begin_arguments(null_mask, input, input_left);
	if (use >= 2)
		fuzz_made();
	else {
		memcpy(text, input, input_left < sizeof text - 1 ? input_left : sizeof text - 1);
		if (use == 0)
			fuzz_definition(text);
		else
			fuzz_expression(text);
	}
	end_arguments();
	return 0;
}
