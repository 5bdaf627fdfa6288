/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of netobsctl top: widths of the two ends, addresses that are too long for theirs, and a terminal that is
 * too narrow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <ncurses.h>

#include "tools/connections/top_screen.h"

static void
check_fit(const char *address, unsigned port, int width, const char *wanted)
{
	char text[TOP_ENDPOINT_SIZE];

	top_fit_endpoint(address, port, width, text);
	assert_string_equal(text, wanted);
}

static void
test_the_port_is_kept(void **state)
{
	(void)state;
	check_fit("192.0.2.1", 443, 21, "192.0.2.1:443");
	check_fit("fd00::1", 443, 21, "[fd00::1]:443");
	check_fit("fd00:1234:5678:9abc::1", 443, 28, "[fd00:1234:5678:9abc::1]:443");
	check_fit("fd00:1234:5678:9abc::1", 443, 27, "[fd00:1234:..8:9abc::1]:443");
	check_fit("fd00:1234:5678:9abc:def0:1234:5678:9abc", 65535, 21, "[fd00:1..:9abc]:65535");
	check_fit("fd00:1234:5678:9abc:def0:1234:5678:9abc", 1, 21, "[fd00:123..78:9abc]:1");
	check_fit("fd00:1234:5678:9abc:def0:1234:5678:9abc", 65535, 6, ":65535");
}

static void
check_widths(int local_longest, int remote_longest, int columns, int local, int remote)
{
	int found[2];

	top_divide_width(local_longest, remote_longest, columns, &found[0], &found[1]);
	assert_int_equal(found[0], local);
	assert_int_equal(found[1], remote);
}

static void
test_widths(void **state)
{
	(void)state;
	check_widths(15, 15, 80, 6, 21);
	check_widths(47, 47, 80, 6, 21);
	check_widths(47, 47, 94, 6, 35);
	check_widths(15, 47, 94, 6, 35);
	check_widths(15, 15, 95, 21, 21);
	check_widths(47, 47, 130, 38, 39);
	check_widths(15, 47, 130, 21, 47);
	check_widths(47, 15, 130, 47, 21);
	check_widths(47, 47, 200, 47, 47);
	check_widths(15, 15, 1, 6, 21);
}

/* Bytes that are written to a terminal of some columns when the screen is drawn, with a prompt or without. */
static long
drawn_bytes(FILE *terminal, int columns, const char *prompt)
{
	struct connection_list rates = {.count = 0};
	struct top_screen screen = {.rates = &rates, .sort = "cid", .filter = "", .message = ""};
	long before = ftell(terminal);

	assert_int_equal(resize_term(24, columns), OK);
	if (prompt != NULL)
		top_screen_draw_prompt(&screen, prompt, "");
	else
		top_screen_draw(&screen);
	timeout(0);
	(void)getch(); /* draws what has changed */
	assert_int_equal(fseek(terminal, 0, SEEK_END), 0);
	return ftell(terminal) - before;
}

static void
test_narrow_terminal(void **state)
{
	FILE *terminal = tmpfile(), *keys = fopen("/dev/null", "re");
	SCREEN *screen;

	(void)state;
	assert_non_null(terminal);
	assert_non_null(keys);
	screen = newterm("vt100", terminal, keys);
	assert_non_null(screen);
	assert_true(drawn_bytes(terminal, 80, NULL) > 0);
	for (int columns = 1; columns <= 2; columns++) {
		assert_int_equal(drawn_bytes(terminal, columns, NULL), 0);
		assert_int_equal(drawn_bytes(terminal, columns, "Conditions: "), 0);
	}
	assert_true(drawn_bytes(terminal, 3, NULL) > 0);
	assert_true(drawn_bytes(terminal, 80, "Conditions: ") > 0);
	endwin();
	delscreen(screen);
	fclose(terminal);
	fclose(keys);
}

/* Bytes of a message that would move the cursor, or end the line, are drawn as text. */
static void
test_control_characters(void **state)
{
	static char drawn[65536];
	FILE *terminal = tmpfile(), *keys = fopen("/dev/null", "re");
	struct connection_list rates = {.count = 0};
	struct top_screen screen = {.rates = &rates, .sort = "cid", .filter = "", .message = "a\nb\xff\\x0a"};
	SCREEN *terminal_screen;

	(void)state;
	assert_non_null(terminal);
	assert_non_null(keys);
	terminal_screen = newterm("vt100", terminal, keys);
	assert_non_null(terminal_screen);
	assert_int_equal(resize_term(24, 80), OK);
	top_screen_draw(&screen);
	timeout(0);
	(void)getch();
	endwin();
	delscreen(terminal_screen);
	rewind(terminal);
	drawn[fread(drawn, 1, sizeof drawn - 1, terminal)] = '\0';
	assert_non_null(strstr(drawn, "a\\x0ab\\xff\\x0a"));
	fclose(terminal);
	fclose(keys);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_port_is_kept),
	    cmocka_unit_test(test_widths),
	    cmocka_unit_test(test_narrow_terminal),
	    cmocka_unit_test(test_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
