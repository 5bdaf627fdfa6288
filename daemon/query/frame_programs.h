/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of a capture: a program of the BSD Packet Filter for each link type, compiled by a client of the control
 * socket and validated here, because the client may be hostile.  In text a program is
 *
 *   LINKTYPE COUNT,CODE JT JF K,...
 *
 * with decimal numbers, LINKTYPE one of DLT_..., and COUNT instructions; a blank separates programs.
 */
#ifndef NETOBS_DAEMON_QUERY_FRAME_PROGRAMS_H
#define NETOBS_DAEMON_QUERY_FRAME_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most instructions of a program, which runs with capture blocked: 4 to 14 us for a frame. */
#define FRAME_PROGRAM_MAX 4096u

/* Most programs. */
#define FRAME_PROGRAMS_MAX 16u

struct bpf_insn;
struct frame_programs;

/* Parses and validates programs.  NULL with `error`. */
struct frame_programs *frame_programs_new(const char *text, char *error, size_t size);
void frame_programs_free(struct frame_programs *programs);

/* Instructions of the longest program. */
unsigned frame_programs_longest(const struct frame_programs *programs);

/* Whether there is a program for the link type. */
bool frame_programs_have(const struct frame_programs *programs, int dlt);

/* Whether the program for the link type, which must be there, selects a frame. */
bool frame_programs_select(const struct frame_programs *programs, int dlt, const uint8_t *data, uint32_t caplen,
			   uint32_t len);

/* NULL if a program ends after at most `count` instructions, and does nothing undefined, whatever the frame is; else
 * what is wrong, with the number of the instruction in `at`. */
const char *frame_program_check(const struct bpf_insn *program, unsigned count, unsigned *at);

#endif
