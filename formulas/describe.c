/* SPDX-License-Identifier: BSD-2-Clause */
/* A match as one line of text: the values that made the formula true. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "formulas/code.h"
#include "formulas/words.h"
#include "probes/firing.h"

/* Most bytes of the value of a text; a longer one is cut and ends in "...". */
#define VALUE_TEXT_MAX 128u

/* Bytes for any value, and for "args[5]->FIELD = VALUE". */
#define VALUE_MAX (VALUE_TEXT_MAX + 64u)
#define ITEM_MAX  (VALUE_MAX + 80u)

/* Bytes of ", the 10000th distinct FIELD, FIELD, FIELD, FIELD in 18446744073709551615ns". */
#define THRESHOLD_TEXT_MAX 256u

static const char left_out[] = ", ...";

/* ---------------------------------------------------------------------------------------------------------- numbers */

/* A number of 1 to 8 bytes, with its sign. */
static uint64_t
describe_load(const struct field_info *field, const char *at)
{
	bool is_signed = field->kind == FIELD_SIGNED;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (field->size) {
	case sizeof u8:
		memcpy(&u8, at, sizeof u8);
		return is_signed ? (uint64_t)(int64_t)(int8_t)u8 : u8;
	case sizeof u16:
		memcpy(&u16, at, sizeof u16);
		return is_signed ? (uint64_t)(int64_t)(int16_t)u16 : u16;
	case sizeof u32:
		memcpy(&u32, at, sizeof u32);
		return is_signed ? (uint64_t)(int64_t)(int32_t)u32 : u32;
	default:
		memcpy(&u64, at, sizeof u64);
		return u64;
	}
}

/* Whether a name ends in this. */
static bool
describe_ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/* Flags as "SYN|ACK"; false if several words share a bit, or a bit has no word. */
static bool
describe_put_flags(char *value, const struct enum_info *words, uint64_t number)
{
	char *at = value;
	uint64_t seen = 0;

	for (size_t i = 0; i < words->word_count; i++) {
		uint64_t bits = (uint64_t)words->words[i].value;

		if ((seen & bits) != 0)
			return false;
		seen |= bits;
		if ((number & bits) == 0)
			continue;
		if (at != value)
			*at++ = '|';
		words_spell(words, words->words[i].word, at, VALUE_MAX - (size_t)(at - value));
		at += strlen(at);
	}
	return number != 0 && (number & ~seen) == 0;
}

/* The word of a number, as --print has it: "state-established", "timeout"; false if it has no word. */
static bool
describe_put_word(char *value, const struct enum_info *words, uint64_t number)
{
	bool is_tcp = describe_ends_in(words->prefix, "_TCP_");

	for (size_t i = 0; i < words->word_count; i++)
		if ((uint64_t)words->words[i].value == number) {
			snprintf(value, VALUE_MAX, "%s%s", is_tcp ? "state-" : "", words->words[i].word);
			return true;
		}
	return false;
}

static void
describe_put_number(char *value, const struct field_info *field, uint64_t number)
{
	struct text_clock clock = {.length = 0};
	bool is_flags = describe_ends_in(field->name, "_flags");
	char *at = value;

	if (field->words != NULL && is_flags && describe_put_flags(value, field->words, number))
		return;
	if (field->words != NULL && !is_flags && describe_put_word(value, field->words, number))
		return;
	if (field->is_hex)
		at = put_hex64(at, number);
	else if (field->unit == UNIT_NS)
		at = put_time(at, &clock, number);
	else if (is_flags)
		at = put_hex(at, (uint32_t)number, 2 * (unsigned)field->size);
	else
		at = field->kind == FIELD_SIGNED ? put_i64(at, (int64_t)number) : put_u64(at, number);
	*at = '\0';
	if (field->unit != UNIT_NONE && field->unit != UNIT_NS)
		snprintf(at, VALUE_MAX - (size_t)(at - value), " %s", field_unit_name(field->unit));
}

/* ----------------------------------------------------------------------------------------------------------- values */

static void
describe_put_text(char *value, const char *from, size_t size)
{
	char *at = value;
	size_t i = 0;

	for (; i < size && from[i] != '\0' && at - value <= (long)(VALUE_TEXT_MAX - FORMAT_PLAIN_BYTE_MAX); i++)
		at = put_plain_text(at, from + i, 1);
	if (i < size && from[i] != '\0')
		at = PUT(at, "...");
	else if (i == 0)
		at = PUT(at, "\"\"");
	*at = '\0';
}

/* The value of a field that is not a pointer, in VALUE_MAX bytes. */
static void
describe_put_value(char *value, const struct field_info *field, const char *from)
{
	switch (field->kind) {
	case FIELD_TEXT:
		describe_put_text(value, from, field->size);
		break;
	case FIELD_BYTES:
		*put_hex_bytes(value, (const uint8_t *)from,
			       field->size < VALUE_TEXT_MAX / 2 ? field->size : VALUE_TEXT_MAX / 2) = '\0';
		break;
	case FIELD_NETWORK: /* an IPv4 address */
		if (inet_ntop(AF_INET, from, value, VALUE_MAX) == NULL)
			*value = '\0';
		break;
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
		describe_put_number(value, field, describe_load(field, from));
		break;
	case FIELD_POINTER:
		break;
	}
}

/* Whether an argument before this one has a field of this name, so that the name alone means that one. */
static bool
describe_name_is_hidden(enum probe_id probe, const char *name, unsigned position)
{
	const struct argument_info *args = manifest_probes[probe].args;

	for (unsigned i = 0; i < position; i++)
		if (args[i].type != NULL && manifest_find_field(args[i].type, name) != NULL)
			return true;
	return false;
}

/* "FIELD = VALUE", "args[5]->FIELD = VALUE", "FIELD = -" if the argument is absent; for a pointer and an argument
 * "FIELD = NULL" or "FIELD != NULL". */
static void
describe_put_item(char item[ITEM_MAX], struct firing *firing, const struct field_info *field,
		  const struct field_place *place)
{
	const char *argument = firing_argument(firing, place->position);
	char value[VALUE_MAX] = "-", of[16] = "";

	if (field == NULL) {
		snprintf(item, ITEM_MAX, "args[%u] %s NULL", place->position, argument != NULL ? "!=" : "=");
		return;
	}
	if (describe_name_is_hidden(firing->probe, field->name, place->position))
		snprintf(of, sizeof of, "args[%u]->", place->position);
	if (argument != NULL && field->kind == FIELD_POINTER) {
		uint64_t address = describe_load(field, argument + place->offset);

		snprintf(item, ITEM_MAX, "%s%s %s NULL", of, field->name, address != 0 ? "!=" : "=");
		return;
	}
	if (argument != NULL)
		describe_put_value(value, field, argument + place->offset);
	snprintf(item, ITEM_MAX, "%s%s = %s", of, field->name, value);
}

/* ------------------------------------------------------------------------------------------------------------ match */

/* ", held for 200ms", ", no dns-response within 5s" */
static void
describe_put_wait(char text[THRESHOLD_TEXT_MAX], const struct formula *formula)
{
	char time[UNITS_TEXT_MAX], probes[THRESHOLD_TEXT_MAX / 2] = "";
	size_t used = 0;

	units_format_time(formula->duration_ns, time);
	if (formula->wait == WAIT_HELD) {
		snprintf(text, THRESHOLD_TEXT_MAX, ", held for %s", time);
		return;
	}
	for (unsigned i = 0; i < PROBE_COUNT && used < sizeof probes; i++)
		if (formula->until->probes[i])
			used += (size_t)snprintf(probes + used, sizeof probes - used, "%s%s", used > 0 ? ", " : "",
						 manifest_probes[i].name);
	snprintf(text, THRESHOLD_TEXT_MAX, ", no %s%s within %s", probes, used < sizeof probes ? "" : "...", time);
}

/* ", the 5th in 10s", ", the 20th distinct tcp_dport in 10s" */
static void
describe_put_threshold(char text[THRESHOLD_TEXT_MAX], const struct formula *formula)
{
	static const char *const endings[] = {"th", "st", "nd", "rd"};
	unsigned last = formula->times % 10;
	char time[UNITS_TEXT_MAX];
	size_t used;

	text[0] = '\0';
	if (formula->wait != WAIT_NONE)
		describe_put_wait(text, formula);
	if (formula->times == 0)
		return;
	used = (size_t)snprintf(text, THRESHOLD_TEXT_MAX, ", the %u%s", formula->times,
				endings[last <= 3 && formula->times / 10 % 10 != 1 ? last : 0]);
	for (unsigned i = 0; i < formula->distinct.count && used < THRESHOLD_TEXT_MAX; i++)
		used += (size_t)snprintf(text + used, THRESHOLD_TEXT_MAX - used, "%s%s", i > 0 ? ", " : " distinct ",
					 formula->distinct.fields[i]->name);
	if (used < THRESHOLD_TEXT_MAX)
		snprintf(text + used, THRESHOLD_TEXT_MAX - used, " in %s",
			 units_format_time(formula->duration_ns, time));
}

void
formula_describe_match(const struct formula *formula, struct firing *firing, char *text, size_t size)
{
	const struct program *program = formula->programs[firing->probe];
	char threshold[THRESHOLD_TEXT_MAX], item[ITEM_MAX];
	const size_t marker = sizeof left_out - 1;
	size_t used = strlen(formula->name), room;

	if (size == 0)
		return;
	snprintf(text, size, "%s", formula->name);
	describe_put_threshold(threshold, formula);
	if (used + strlen(threshold) + marker >= size)
		return;
	room = size - 1 - strlen(threshold);
	for (unsigned i = 0; i < formula->read_count; i++) {
		bool is_last = i + 1 == formula->read_count;
		size_t length;

		describe_put_item(item, firing, formula->reads[i], &program->reads[i]);
		length = strlen(item) + 2;
		if (used + length + (is_last ? 0 : marker) > room) {
			memcpy(text + used, left_out, marker);
			used += marker;
			break;
		}
		memcpy(text + used, ", ", 2);
		memcpy(text + used + 2, item, length - 2);
		used += length;
	}
	memcpy(text + used, threshold, strlen(threshold) + 1);
	if (text[strlen(formula->name)] == ',')
		text[strlen(formula->name)] = ':';
}
