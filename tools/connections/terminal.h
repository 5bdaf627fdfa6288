/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal of `netobsctl top`: full screen, and as it was before when the program ends, also by a signal. */
#ifndef NETOBS_TOOLS_CONNECTIONS_TERMINAL_H
#define NETOBS_TOOLS_CONNECTIONS_TERMINAL_H

#include <stdbool.h>

/* Begins full-screen mode.  False with a message printed, unless standard input and output are a terminal that can. */
bool terminal_begin(void);

/* Whether the terminal is gone: reading from it then fails at once.  SIGHUP ends only a process that it controls. */
bool terminal_is_gone(void);

/* Ends it. */
void terminal_end(void);

#endif
