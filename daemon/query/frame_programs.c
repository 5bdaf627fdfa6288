/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/frame_programs.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame_program {
	int dlt;
	struct bpf_program code;
};

struct frame_programs {
	unsigned count;
	struct frame_program programs[FRAME_PROGRAMS_MAX];
};

_Static_assert(BPF_MEMWORDS <= 16, "a set of scratch words has 16 bits");

/* ------------------------------------------------------------------------------------------------------- the check */

static bool
code_is_known(unsigned code)
{
	static const uint16_t codes[] = {
	    BPF_LD | BPF_W | BPF_ABS,	BPF_LD | BPF_H | BPF_ABS,    BPF_LD | BPF_B | BPF_ABS,
	    BPF_LD | BPF_W | BPF_IND,	BPF_LD | BPF_H | BPF_IND,    BPF_LD | BPF_B | BPF_IND,
	    BPF_LD | BPF_W | BPF_LEN,	BPF_LD | BPF_IMM,	     BPF_LD | BPF_MEM,
	    BPF_LDX | BPF_W | BPF_LEN,	BPF_LDX | BPF_MSH | BPF_B,   BPF_LDX | BPF_IMM,
	    BPF_LDX | BPF_MEM,		BPF_ST,			     BPF_STX,
	    BPF_ALU | BPF_ADD | BPF_K,	BPF_ALU | BPF_ADD | BPF_X,   BPF_ALU | BPF_SUB | BPF_K,
	    BPF_ALU | BPF_SUB | BPF_X,	BPF_ALU | BPF_MUL | BPF_K,   BPF_ALU | BPF_MUL | BPF_X,
	    BPF_ALU | BPF_DIV | BPF_K,	BPF_ALU | BPF_DIV | BPF_X,   BPF_ALU | BPF_MOD | BPF_K,
	    BPF_ALU | BPF_MOD | BPF_X,	BPF_ALU | BPF_AND | BPF_K,   BPF_ALU | BPF_AND | BPF_X,
	    BPF_ALU | BPF_OR | BPF_K,	BPF_ALU | BPF_OR | BPF_X,    BPF_ALU | BPF_XOR | BPF_K,
	    BPF_ALU | BPF_XOR | BPF_X,	BPF_ALU | BPF_LSH | BPF_K,   BPF_ALU | BPF_LSH | BPF_X,
	    BPF_ALU | BPF_RSH | BPF_K,	BPF_ALU | BPF_RSH | BPF_X,   BPF_ALU | BPF_NEG,
	    BPF_JMP | BPF_JA,		BPF_JMP | BPF_JEQ | BPF_K,   BPF_JMP | BPF_JEQ | BPF_X,
	    BPF_JMP | BPF_JGT | BPF_K,	BPF_JMP | BPF_JGT | BPF_X,   BPF_JMP | BPF_JGE | BPF_K,
	    BPF_JMP | BPF_JGE | BPF_X,	BPF_JMP | BPF_JSET | BPF_K,  BPF_JMP | BPF_JSET | BPF_X,
	    BPF_RET | BPF_K,		BPF_RET | BPF_A,	     BPF_MISC | BPF_TAX,
	    BPF_MISC | BPF_TXA,
	};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* What is wrong with the operand of an instruction.  libpcap's interpreter checks what frames decide: offsets in them,
 * and divisors and shifts in the register X. */
static const char *
insn_check_operand(const struct bpf_insn *insn)
{
	switch (insn->code) {
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
		return insn->k < BPF_MEMWORDS ? NULL : "there is no such scratch word";
	case BPF_ALU | BPF_DIV | BPF_K:
	case BPF_ALU | BPF_MOD | BPF_K:
		return insn->k != 0 ? NULL : "it divides by 0";
	case BPF_ALU | BPF_LSH | BPF_K:
	case BPF_ALU | BPF_RSH | BPF_K:
		return insn->k < 32 ? NULL : "it shifts by more than 31 bits";
	default:
		return NULL;
	}
}

/* Jumps lead forward and stay in the program, of which `left` instructions follow this one. */
static const char *
insn_check_jump(const struct bpf_insn *insn, unsigned left)
{
	bool good = BPF_OP(insn->code) == BPF_JA ? insn->k < left : insn->jt < left && insn->jf < left;

	return good ? NULL : "it jumps back or out of the program";
}

/* The scratch words that are certainly written before an instruction: those of each instruction that leads to it. */
struct written_words {
	uint16_t now;
	uint16_t before[FRAME_PROGRAM_MAX];
};

static void
written_jump(struct written_words *written, unsigned at, const struct bpf_insn *insn)
{
	if (BPF_OP(insn->code) == BPF_JA) {
		written->before[at + 1 + insn->k] &= written->now;
	} else {
		written->before[at + 1 + insn->jt] &= written->now;
		written->before[at + 1 + insn->jf] &= written->now;
	}
	written->now = UINT16_MAX; /* only jumps lead to the next instruction */
}

/* Follows an instruction, whose operands are right. */
static const char *
written_follow(struct written_words *written, unsigned at, const struct bpf_insn *insn)
{
	written->now &= written->before[at];
	switch (BPF_CLASS(insn->code)) {
	case BPF_ST:
	case BPF_STX:
		written->now |= (uint16_t)(1u << insn->k);
		break;
	case BPF_LD:
	case BPF_LDX:
		if (BPF_MODE(insn->code) == BPF_MEM && (written->now >> insn->k & 1) == 0)
			return "it reads a scratch word that may not be written";
		break;
	case BPF_JMP:
		written_jump(written, at, insn);
		break;
	case BPF_RET:
		written->now = UINT16_MAX;
		break;
	default:
		break;
	}
	return NULL;
}

const char *
frame_program_check(const struct bpf_insn *program, unsigned count, unsigned *at)
{
	struct written_words written = {.now = 0};
	const char *wrong = NULL;

	*at = 0;
	if (count == 0 || count > FRAME_PROGRAM_MAX)
		return "it has no or too many instructions";
	memset(written.before, 0xff, sizeof written.before);
	for (unsigned i = 0; i < count && wrong == NULL; i++) {
		const struct bpf_insn *insn = &program[i];

		*at = i;
		wrong = code_is_known(insn->code) ? insn_check_operand(insn) : "there is no such instruction";
		if (wrong == NULL && BPF_CLASS(insn->code) == BPF_JMP)
			wrong = insn_check_jump(insn, count - i - 1);
		if (wrong == NULL)
			wrong = written_follow(&written, i, insn);
	}
	if (wrong == NULL && BPF_CLASS(program[count - 1].code) != BPF_RET)
		wrong = "it does not return";
	return wrong;
}

/* --------------------------------------------------------------------------------------------------------- the text */

/* Parses a decimal number and the character after it, and moves `*text` past both.  '\0' is not passed. */
static bool
program_parse_number(const char **text, uint64_t most, const char *ends, uint64_t *number)
{
	const char *at = *text;

	*number = 0;
	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		*number = 10 * *number + (uint64_t)(*at - '0');
		if (*number > most)
			return false;
	}
	if (*at != '\0' && strchr(ends, *at) == NULL)
		return false;
	*text = *at != '\0' ? at + 1 : at;
	return true;
}

static bool
program_parse_insn(const char **text, struct bpf_insn *insn)
{
	uint64_t code, jt, jf, k;

	if (!program_parse_number(text, UINT16_MAX, " ", &code) || !program_parse_number(text, UINT8_MAX, " ", &jt) ||
	    !program_parse_number(text, UINT8_MAX, " ", &jf) || !program_parse_number(text, UINT32_MAX, ", ", &k))
		return false;
	*insn = (struct bpf_insn){
	    .code = (uint16_t)code, .jt = (uint8_t)jt, .jf = (uint8_t)jf, .k = (uint32_t)k};
	return true;
}

/* Parses a program and moves `*text` past it.  False with `error`. */
static bool
program_parse(struct frame_program *program, const char **text, char *error, size_t size)
{
	uint64_t dlt, count;
	const char *wrong;
	unsigned at;

	if (!program_parse_number(text, UINT16_MAX, " ", &dlt) ||
	    !program_parse_number(text, FRAME_PROGRAM_MAX, ",", &count) || count == 0) {
		snprintf(error, size,
			 "write: the filter is not LINKTYPE COUNT,CODE JT JF K,... with 1 to %u instructions",
			 FRAME_PROGRAM_MAX);
		return false;
	}
	program->dlt = (int)dlt;
	program->code.bf_len = (unsigned)count;
	program->code.bf_insns = calloc(count, sizeof *program->code.bf_insns);
	if (program->code.bf_insns == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return false;
	}
	for (unsigned i = 0; i < count; i++)
		if (!program_parse_insn(text, &program->code.bf_insns[i]) || (i + 1 < count) != ((*text)[-1] == ',')) {
			snprintf(error, size, "write: the filter has no instruction %u, CODE JT JF K", i);
			return false;
		}
	wrong = frame_program_check(program->code.bf_insns, program->code.bf_len, &at);
	if (wrong != NULL)
		snprintf(error, size, "write: instruction %u of the filter: %s", at, wrong);
	return wrong == NULL;
}

struct frame_programs *
frame_programs_new(const char *text, char *error, size_t size)
{
	struct frame_programs *programs = calloc(1, sizeof *programs);

	if (programs == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return NULL;
	}
	do {
		if (programs->count == FRAME_PROGRAMS_MAX) {
			snprintf(error, size, "write: the filter has more than %u link types", FRAME_PROGRAMS_MAX);
		} else if (program_parse(&programs->programs[programs->count++], &text, error, size)) {
			continue;
		}
		frame_programs_free(programs);
		return NULL;
	} while (*text != '\0');
	return programs;
}

void
frame_programs_free(struct frame_programs *programs)
{
	if (programs == NULL)
		return;
	for (unsigned i = 0; i < programs->count; i++)
		free(programs->programs[i].code.bf_insns);
	free(programs);
}

/* ------------------------------------------------------------------------------------------------------- the frames */

static const struct frame_program *
programs_find(const struct frame_programs *programs, int dlt)
{
	for (unsigned i = 0; i < programs->count; i++)
		if (programs->programs[i].dlt == dlt)
			return &programs->programs[i];
	return NULL;
}

unsigned
frame_programs_longest(const struct frame_programs *programs)
{
	unsigned longest = 0;

	for (unsigned i = 0; i < programs->count; i++)
		if (programs->programs[i].code.bf_len > longest)
			longest = programs->programs[i].code.bf_len;
	return longest;
}

bool
frame_programs_have(const struct frame_programs *programs, int dlt)
{
	return programs_find(programs, dlt) != NULL;
}

bool
frame_programs_select(const struct frame_programs *programs, int dlt, const uint8_t *data, uint32_t caplen,
		      uint32_t len)
{
	const struct pcap_pkthdr header = {.caplen = caplen, .len = len};
	const struct frame_program *program = programs_find(programs, dlt);

	return program != NULL && pcap_offline_filter(&program->code, &header, data) != 0;
}
