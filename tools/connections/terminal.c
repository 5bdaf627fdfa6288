/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/terminal.h"

#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "tools/control_client.h"

/* For the signal handler that restores the terminal.  It may call write(2) and tcsetattr(3), no function of ncurses. */
static struct termios terminal_before;
static char terminal_leave[128];
static SCREEN *terminal_screen;

static const int terminal_signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

static void
terminal_on_signal(int number)
{
	(void)!write(STDOUT_FILENO, terminal_leave, strlen(terminal_leave));
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
	raise(number); /* SA_RESETHAND: the program ends by it */
}

/* A sequence of the terminal; NULL if it lacks the sequence. */
static const char *
terminal_sequence(const char *name)
{
	const char *sequence = tigetstr(name);

	return sequence != (const char *)-1 ? sequence : NULL;
}

/* Copies the sequences that end attributes, show the cursor and return to the former screen, without the delays between
 * "$<" and ">" (terminfo(5)), which are for old hardware.  A terminal without another screen gets a new line. */
static void
terminal_copy_sequences(void)
{
	static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
	size_t used = 0;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *at = terminal_sequence(names[i]);

		for (; at != NULL && *at != '\0' && used < sizeof terminal_leave - 3; at++) {
			if (at[0] == '$' && at[1] == '<' && strchr(at, '>') != NULL)
				at = strchr(at, '>');
			else
				terminal_leave[used++] = *at;
		}
	}
	if (terminal_sequence("rmcup") == NULL)
		snprintf(terminal_leave + used, sizeof terminal_leave - used, "\r\n");
}

bool
terminal_begin(void)
{
	struct sigaction action = {.sa_handler = terminal_on_signal, .sa_flags = (int)SA_RESETHAND};

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &terminal_before) != 0) {
		client_log_error("top needs a terminal; connections -o FIELD,... -i SECONDS prints lines", NULL);
		return false;
	}
	setlocale(LC_CTYPE, "");
	terminal_screen = newterm(NULL, stdout, stdin);
	if (terminal_screen != NULL && terminal_sequence("cup") == NULL) /* it cannot place text */
		terminal_end();
	if (terminal_screen == NULL) {
		const char *type = getenv("TERM");

		client_log_error("top cannot use a terminal of this type", type != NULL ? type : "TERM is not set");
		return false;
	}
	terminal_copy_sequences();
	for (size_t i = 0; i < sizeof terminal_signals / sizeof terminal_signals[0]; i++)
		sigaction(terminal_signals[i], &action, NULL);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	return true;
}

bool
terminal_is_gone(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

void
terminal_end(void)
{
	endwin();
	delscreen(terminal_screen);
	terminal_screen = NULL;
}
