/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "dissect/packet.h"
#include "formulas/code.h"
#include "formulas/match/pattern.h"
#include "formulas/match/pcap_test.h"
#include "probes/firing.h"

/* A field of up to 4 bytes is a signed number. */
static inline uint64_t
evaluate_load(unsigned load, const uint8_t *at)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (load) {
	case LOAD_U8:
		return *at;
	case LOAD_U16:
		memcpy(&u16, at, sizeof u16);
		return u16;
	case LOAD_U32:
		memcpy(&u32, at, sizeof u32);
		return u32;
	case LOAD_I8:
		return (uint64_t)(int64_t)(int8_t)*at;
	case LOAD_I32:
		memcpy(&u32, at, sizeof u32);
		return (uint64_t)(int64_t)(int32_t)u32;
	case LOAD_NETWORK:
		memcpy(&u32, at, sizeof u32);
		return ntohl(u32);
	default:
		memcpy(&u64, at, sizeof u64);
		return u64;
	}
}

static bool
evaluate_set(const struct number_set *set, uint64_t number)
{
	unsigned low = 0, high = set->count;

	number += set->bias;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (number < set->ranges[middle].low)
			high = middle;
		else if (number > set->ranges[middle].high)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

static bool
evaluate_texts(const struct instruction *i, const char *text, struct firing *firing, bool *absent)
{
	const char *other = firing_argument(firing, i->other.position);
	size_t size = i->place.size < i->other.size ? i->place.size : i->other.size;

	*absent = other == NULL;
	return other != NULL && strncmp(text, other + i->other.offset, size) == 0;
}

static bool
evaluate_pcap(const struct instruction *i, const struct firing *firing, bool *absent)
{
	*absent = firing->packet == NULL;
	return firing->packet != NULL && pcap_test_match(i->pcap, firing->packet->frame);
}

/* A test of text; its argument is present. */
static bool
evaluate_text(const struct instruction *i, const char *text, struct firing *firing, bool *absent)
{
	switch (i->operation) {
	case TEST_TEXT:
		return memcmp(text, i->text, i->length + 1) == 0;
	case TEST_PREFIX:
		return address_match(i->prefix, text);
	case TEST_PATTERN:
		return pattern_match(i->pattern, text, strnlen(text, i->place.size));
	default:
		return evaluate_texts(i, text, firing, absent);
	}
}

static bool
evaluate_registers(const struct instruction *i, const uint64_t *registers)
{
	uint64_t left = registers[i->to], right = registers[i->to + 1];

	switch (i->operation) {
	case TEST_SET:
		return evaluate_set(i->set, left);
	case TEST_EQUAL:
		return left == right;
	case TEST_EQUAL_MIXED:
		return left == right && (int64_t)left >= 0;
	case TEST_LESS:
		return (int64_t)left < (int64_t)right;
	case TEST_LESS_MIXED:
		return (int64_t)left < 0 || left < right;
	case TEST_MIXED_LESS:
		return (int64_t)right >= 0 && left < right;
	default:
		return left < right;
	}
}

/* A test of an argument that is not absent. */
static unsigned
evaluate_argument(const struct instruction *i, const uint8_t *field, struct firing *firing)
{
	bool absent = false, result;

	if (i->operation < TEST_SET) {
		result = (evaluate_load(i->operation - TEST_RANGE, field) & i->mask) - i->low <= i->span;
		return i->next[result];
	}
	result = evaluate_text(i, (const char *)field, firing, &absent);
	return absent ? i->next_absent : i->next[result];
}

static inline unsigned
evaluate_load_field(const struct instruction *i, struct firing *firing, uint64_t *registers)
{
	const uint8_t *argument = firing_argument(firing, i->place.position);

	if (argument == NULL)
		return i->next_absent;
	registers[i->to] = evaluate_load(i->operation - LOAD_FIELD, argument + i->place.offset);
	return i->next[1];
}

static inline unsigned
evaluate_computation(const struct instruction *i, uint64_t *registers)
{
	uint64_t *to = &registers[i->to], right = i->operation <= COMPUTE_COMPLEMENT ? 0 : to[1];

	if (!number_is_defined(i->operation, right))
		return i->next_absent;
	to[0] = number_compute(i->operation, to[0], right);
	return i->next[1];
}

static inline bool
evaluate_is_number(unsigned operation)
{
	return operation == TEST_REGISTER || operation >= LOAD_FIELD;
}

/* Instructions from number `at` on, up to the first that is not evaluate_is_number(); returns its number.  A call for
 * each of them would cost 20 machine instructions more. */
static __attribute__((noinline)) unsigned
evaluate_numbers(const struct instruction *code, unsigned at, struct firing *firing, uint64_t *registers)
{
	do {
		const struct instruction *i = &code[at];

		if (!evaluate_is_number(i->operation))
			return at;
		if (i->operation == TEST_REGISTER)
			at = i->next[registers[i->to] - i->low <= i->span];
		else if (i->operation > LOAD_CONSTANT)
			at = evaluate_computation(i, registers);
		else if (i->operation == LOAD_CONSTANT) {
			registers[i->to] = i->low;
			at = i->next[1];
		} else
			at = evaluate_load_field(i, firing, registers);
	} while (at < NEXT_FALSE);
	return at;
}

/* The other instructions except TEST_WORD; returns the number of the next one. */
static __attribute__((noinline)) unsigned
evaluate_instruction(const struct instruction *i, struct firing *firing, const uint64_t *registers)
{
	const uint8_t *argument;
	bool absent = false, result;

	if (i->operation >= TEST_SET && i->operation <= TEST_EQUAL_MIXED)
		return i->next[evaluate_registers(i, registers)];
	if (i->operation == TEST_PCAP) {
		result = evaluate_pcap(i, firing, &absent);
		return absent ? i->next_absent : i->next[result];
	}
	argument = firing_argument(firing, i->place.position);
	if (i->operation == TEST_ARGUMENT)
		return i->next[argument != NULL];
	return argument == NULL ? i->next_absent : evaluate_argument(i, argument + i->place.offset, firing);
}

bool
formula_is_true(const struct formula *formula, struct firing *firing)
{
	const struct program *program = formula->programs[firing->probe];
	uint64_t registers[REGISTERS_MAX + 1];
	unsigned at = program->entry;

	while (at < NEXT_FALSE) {
		const struct instruction *i = &program->code[at];
		const uint8_t *argument;
		uint64_t word;

		if (__builtin_expect(i->operation != TEST_WORD, 0)) {
			at = evaluate_is_number(i->operation) ? evaluate_numbers(program->code, at, firing, registers) :
								evaluate_instruction(i, firing, registers);
			continue;
		}
		argument = firing_argument(firing, i->place.position);
		if (__builtin_expect(argument == NULL, 0)) {
			at = i->next_absent;
			continue;
		}
		memcpy(&word, argument + i->place.offset, sizeof word);
		/* A branch, so that the processor begins the next instruction before it has the result. */
		if (__builtin_expect_with_probability(((word << i->shift) & i->mask) - i->low <= i->span, 1, 0.5))
			at = i->next[1];
		else
			at = i->next[0];
	}
	return at == NEXT_TRUE;
}
