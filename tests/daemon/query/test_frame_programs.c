/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of clients: text that is not a program, and programs that would not end, read outside the scratch words,
 * divide by 0 or leave the program, are refused.  Random programs that pass the check run on random frames: under
 * sanitizers without a fault, and each ends after as many instructions as it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "daemon/query/frame_programs.h"

static bool
parses(const char *text)
{
	char error[320] = "";
	struct frame_programs *programs = frame_programs_new(text, error, sizeof error);
	bool good = programs != NULL;

	assert_true(good == (error[0] == '\0'));
	frame_programs_free(programs);
	return good;
}

static void
test_text(void **state)
{
	static const char *const wrong[] = {
	    "",
	    " ",
	    "1",
	    "1 ",
	    "1 1",
	    "1 1,",
	    "1 0,",
	    "1 0",
	    "x 1,6 0 0 0",
	    "1 1,6 0 0",
	    "1 1,6 0 0 0,",
	    "1 1,6 0 0 0,6 0 0 0",
	    "1 2,6 0 0 0",
	    "1 1 6 0 0 0",
	    "1 1,6,0,0,0",
	    "-1 1,6 0 0 0",
	    "1 1,-6 0 0 0",
	    "1 1,6 0 0 -1",
	    "65536 1,6 0 0 0",
	    "1 1,65536 0 0 0",
	    "1 1,6 256 0 0",
	    "1 1,6 0 256 0",
	    "1 1,6 0 0 4294967296",
	    "1 4097,6 0 0 0",
	    "1 1,6 0 0 99999999999999999999",
	    "1 1,6 0 0 0 2",
	    "1 1,6 0 0 0x",
	    "1  1,6 0 0 0",
	    "1 1,6 0 0 0  2 1,6 0 0 0",
	    "1 1,+6 0 0 0",
	    "1 1, 6 0 0 0",
	};
	char many[FRAME_PROGRAMS_MAX * 32 + 64] = "";

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		if (parses(wrong[i]))
			fail_msg("\"%s\" is taken", wrong[i]);
	assert_true(parses("1 1,6 0 0 4294967295"));
	assert_true(parses("1 2,0 0 0 7,22 0 0 0"));
	for (unsigned i = 0; i < FRAME_PROGRAMS_MAX; i++)
		snprintf(many + strlen(many), sizeof many - strlen(many), "%s%u 1,6 0 0 1", i > 0 ? " " : "", i);
	assert_true(parses(many));
	snprintf(many + strlen(many), sizeof many - strlen(many), " 99 1,6 0 0 1");
	assert_false(parses(many));
}

#define RETURN BPF_STMT(BPF_RET | BPF_K, 1)

static void
test_hostile(void **state)
{
	static const struct {
		const char *name, *wrong;
		unsigned at;
		struct bpf_insn code[4];
	} programs[] = {
	    {"an endless loop", "jumps back", 0, {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), RETURN, RETURN, RETURN}},
	    {"a jump to the end", "out of", 0, {BPF_STMT(BPF_JMP | BPF_JA, 3), RETURN, RETURN, RETURN}},
	    {"a far jump", "out of", 0, {BPF_STMT(BPF_JMP | BPF_JA, INT32_MAX), RETURN, RETURN, RETURN}},
	    {"a branch beyond the end",
	     "out of",
	     0,
	     {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0), RETURN, RETURN, RETURN}},
	    {"another branch", "out of", 1, {RETURN, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2), RETURN, RETURN}},
	    {"the end is not a return", "return", 3, {RETURN, RETURN, RETURN, BPF_STMT(BPF_LD | BPF_IMM, 1)}},
	    {"the end is a jump", "out of", 3, {RETURN, RETURN, RETURN, BPF_STMT(BPF_JMP | BPF_JA, 0)}},
	    {"division by 0", "divides", 1, {RETURN, BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN, RETURN}},
	    {"remainder by 0", "divides", 1, {RETURN, BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 0), RETURN, RETURN}},
	    {"a long shift", "shifts", 1, {RETURN, BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RETURN, RETURN}},
	    {"a long shift right",
	     "shifts",
	     1,
	     {RETURN, BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, UINT32_MAX), RETURN, RETURN}},
	    {"scratch word 16", "scratch", 0, {BPF_STMT(BPF_ST, 16), RETURN, RETURN, RETURN}},
	    {"scratch word -1", "scratch", 0, {BPF_STMT(BPF_STX, UINT32_MAX), RETURN, RETURN, RETURN}},
	    {"a read outside them", "scratch", 1,
	     {BPF_STMT(BPF_ST, 0), BPF_STMT(BPF_LD | BPF_MEM, 16), RETURN, RETURN}},
	    {"an unwritten word", "not be written", 0, {BPF_STMT(BPF_LD | BPF_MEM, 0), RETURN, RETURN, RETURN}},
	    {"an unwritten word to X",
	     "not be written",
	     1,
	     {BPF_STMT(BPF_ST, 1), BPF_STMT(BPF_LDX | BPF_MEM, 0), RETURN, RETURN}},
	    {"a word of one branch",
	     "not be written",
	     2,
	     {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_MEM, 3),
	      RETURN}},
	    {"no instruction", "no such instruction", 0, {BPF_STMT(0xffff, 0), RETURN, RETURN, RETURN}},
	    {"return X", "no such instruction", 0, {BPF_STMT(BPF_RET | BPF_X, 0), RETURN, RETURN, RETURN}},
	};
	static const struct bpf_insn good[][4] = {
	    {BPF_STMT(BPF_JMP | BPF_JA, 2), RETURN, RETURN, RETURN},
	    {BPF_STMT(BPF_ST, 15), BPF_STMT(BPF_LDX | BPF_MEM, 15), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RETURN},
	    {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), RETURN, BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_RET | BPF_A, 0)},
	    {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, UINT32_MAX), BPF_STMT(BPF_LD | BPF_H | BPF_IND, UINT32_MAX),
	     BPF_STMT(BPF_LDX | BPF_MSH | BPF_B, UINT32_MAX), RETURN},
	};
	unsigned at;

	(void)state;
	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		const char *wrong = frame_program_check(programs[i].code, 4, &at);

		if (wrong == NULL || strstr(wrong, programs[i].wrong) == NULL || at != programs[i].at)
			fail_msg("%s: instruction %u: %s", programs[i].name, at, wrong != NULL ? wrong : "good");
	}
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_null(frame_program_check(good[i], 4, &at));
	assert_non_null(frame_program_check(good[0], 0, &at));
}

/* ------------------------------------------------------------------------------------------------- random programs */

static uint64_t seed = 1;

static uint32_t
draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16) % below;
}

static uint32_t
draw_operand(void)
{
	static const uint32_t edges[] = {0, 1, 3, 15, 16, 31, 32, 63, 64, 65, INT32_MAX, UINT32_MAX - 3, UINT32_MAX};

	return draw(2) == 0 ? draw(20) : edges[draw(sizeof edges / sizeof edges[0])];
}

/* Instructions as libpcap has them, seldom others. */
static struct bpf_insn
draw_insn(void)
{
	static const uint16_t codes[] = {0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0x80, 0x00, 0x60, 0x81, 0xb1, 0x01, 0x61,
					 0x02, 0x03, 0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3c, 0x94, 0x9c, 0x54,
					 0x5c, 0x44, 0x4c, 0xa4, 0xac, 0x64, 0x6c, 0x74, 0x7c, 0x84, 0x05, 0x15, 0x1d,
					 0x25, 0x2d, 0x35, 0x3d, 0x45, 0x4d, 0x06, 0x16, 0x07, 0x87};

	return (struct bpf_insn){.code = draw(200) == 0 ? (uint16_t)draw(UINT16_MAX)
							: codes[draw(sizeof codes / sizeof codes[0])],
				 .jt = (uint8_t)draw(draw(20) == 0 ? 256 : 4),
				 .jf = (uint8_t)draw(draw(20) == 0 ? 256 : 4),
				 .k = draw_operand()};
}

static void
test_random(void **state)
{
	unsigned passed = 0, at;

	(void)state;
	for (unsigned n = 0; n < 400000; n++) {
		struct bpf_insn code[12];
		unsigned count = 1 + draw(sizeof code / sizeof code[0]);
		struct bpf_program program = {.bf_len = count, .bf_insns = code};

		for (unsigned i = 0; i < count; i++)
			code[i] = draw_insn();
		code[count - 1].code = draw(2) == 0 ? BPF_RET | BPF_K : BPF_RET | BPF_A;
		if (frame_program_check(code, count, &at) != NULL) {
			assert_true(at < count);
			continue;
		}
		passed++;
		for (unsigned i = 0; i < 4; i++) {
			uint32_t caplen = draw(64);
			uint8_t *frame = malloc(caplen); /* so that a sanitizer sees its end */
			const struct pcap_pkthdr header = {.caplen = caplen, .len = caplen + draw(100)};

			for (uint32_t byte = 0; byte < caplen; byte++)
				frame[byte] = (uint8_t)draw(256);
			(void)pcap_offline_filter(&program, &header, frame); /* ends */
			free(frame);
		}
	}
	assert_in_range(passed, 10000, 390000);
}

/* Programs with all but one of the characters of a good one. */
static void
test_damaged(void **state)
{
	static const char good[] = "1 4,40 0 0 12,21 0 1 2048,6 0 0 262144,6 0 0 0 113 1,6 0 0 1";
	char text[sizeof good];

	(void)state;
	assert_true(parses(good));
	for (size_t i = 0; i < sizeof good - 1; i++)
		for (unsigned byte = ' '; byte <= '~'; byte++) {
			memcpy(text, good, sizeof good);
			text[i] = (char)byte;
			(void)parses(text);
		}
	for (size_t i = 0; i < sizeof good - 1; i++) {
		snprintf(text, sizeof text, "%.*s", (int)i, good);
		(void)parses(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_random),
	    cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
