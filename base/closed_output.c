/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/closed_output.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* The reader of another descriptor may have gone instead: then the signal has its default action. */
static void
closed_output_on_signal(int number)
{
	struct pollfd output = {.fd = STDOUT_FILENO};

	if (poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0)
		_exit(EXIT_SUCCESS);
	signal(number, SIG_DFL);
	raise(number);
}

void
closed_output_end_quietly(void)
{
	signal(SIGPIPE, closed_output_on_signal);
}
