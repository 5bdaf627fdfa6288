/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/top_screen.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/* Lines of the screen besides the rows: the summary, the titles, the keys. */
#define TOP_OTHER_LINES 3

/* Fewest columns that are drawn in: in a terminal of one or two ncurses reads bytes before those of a line. */
#define TOP_COLUMNS_MIN 3

/* Bytes of a line of text, with its NUL. */
#define TOP_LINE_SIZE 512

#define TOP_STATE_WIDTH	 11
#define TOP_REMOTE_WIDTH 21
#define TOP_PORT_WIDTH	 6 /* ":65535" */

/* The columns besides the two ends, with 10 for the process. */
#define TOP_OTHER_WIDTH 53

static const char top_keys[] = "q quit  Enter detail  l ladder  w write  s sort  r reverse  / filter  h help";

static const char top_help[] = "Up Down PgUp PgDn Home End   select a connection; in a text: PgUp PgDn Home End\n"
			       "        scroll\n"
			       "Enter   details of the connection, with the line for a tracer; Esc: back\n"
			       "l       its packets in the flight memory as a ladder; Esc: back\n"
			       "w       write its packets from the flight memory to cid-CID.pcapng\n"
			       "s  S    sort by the next field, the one before\n"
			       "r       reverse the order\n"
			       "/       an expression: server_port == 443 && client_resent > 3; Ctrl-U empties\n"
			       "        the line\n"
			       "q       quit\n"
			       "\n"
			       "IN/s and OUT/s are bytes of the local end, RTT is its smoothed round-trip time;\n"
			       "RETR/s are segments that both ends sent again.\n";

/* --------------------------------------------------------------------------------------------------------- numbers */

/* Formats a number of bytes, or of bytes per second, in at most six characters: "999", "1.2K", "12.3M". */
static void
top_format_bytes(double bytes, char text[8])
{
	static const char units[] = " KMGTP";
	unsigned unit = 0;

	for (; bytes >= 999.5 && unit < sizeof units - 2; unit++)
		bytes /= 1000;
	if (unit == 0)
		snprintf(text, 8, "%.0f", bytes);
	else
		snprintf(text, 8, bytes < 99.95 ? "%.1f%c" : "%.0f%c", bytes, units[unit]);
}

/* Formats microseconds in at most seven characters: "830us", "12.3ms", "1.20s". */
static void
top_format_time(double us, char text[8])
{
	if (us < 1000)
		snprintf(text, 8, "%.0fus", us);
	else if (us < 999500)
		snprintf(text, 8, us < 99950 ? "%.1fms" : "%.0fms", us / 1000);
	else if (us < 99995000)
		snprintf(text, 8, "%.2fs", us / 1e6);
	else
		snprintf(text, 8, "%.0fs", us < 9.99e11 ? us / 1e6 : 999999);
}

/* The increase of a counter in a second; "-" if it is not known. */
static void
top_format_rate(const struct top_screen *screen, const struct connection_row *row, enum top_field field, char text[8])
{
	double seconds = screen->rates->seconds > 0 ? screen->rates->seconds : 1;
	double rate = (double)row->values[field].number / seconds;

	if (row->unrated)
		snprintf(text, 8, "-");
	else if (field == TOP_RESENT)
		snprintf(text, 8, rate < 99999 ? "%.1f" : "%.0f", rate < 999999 ? rate : 999999);
	else
		top_format_bytes(rate, text);
}

/* -------------------------------------------------------------------------------------------------------- the lines */

size_t
top_screen_rows(void)
{
	return LINES > TOP_OTHER_LINES ? (size_t)(LINES - TOP_OTHER_LINES) : 1;
}

/* Draws as much of a text as the line has room for, with blanks to its end.  No byte of it moves the cursor. */
static void
top_draw_line(int line, int attributes, const char *text)
{
	char plain[TOP_LINE_SIZE * FORMAT_PLAIN_BYTE_MAX + 8];

	if (line < 0 || line >= LINES)
		return;
	attrset(attributes);
	move(line, 0);
	clrtoeol();
	mvhline(line, 0, (chtype)' ' | (chtype)attributes, COLS);
	*put_foreign_text(plain, text, strnlen(text, TOP_LINE_SIZE)) = '\0';
	mvaddnstr(line, 0, plain, COLS);
	attrset(A_NORMAL);
}

bool
top_row_is_server(const struct connection_row *row)
{
	return strcmp(row->values[TOP_LOCAL].text, "server") == 0;
}

static int
top_format_endpoint(const char *address, unsigned port, char text[TOP_ENDPOINT_SIZE])
{
	return snprintf(text, TOP_ENDPOINT_SIZE, strchr(address, ':') != NULL ? "[%s]:%u" : "%s:%u", address, port);
}

void
top_fit_endpoint(const char *address, unsigned port, int width, char text[TOP_ENDPOINT_SIZE])
{
	static const char gap[] = "..";
	int length = (int)strlen(address), more = top_format_endpoint(address, port, text) - width;
	int kept = length - more - (int)strlen(gap), end = kept / 2;

	if (more <= 0)
		return;
	if (kept > 0)
		snprintf(text, TOP_ENDPOINT_SIZE, strchr(address, ':') != NULL ? "[%.*s%s%s]:%u" : "%.*s%s%s:%u",
			 kept - end, address, gap, address + length - end, port);
	else
		snprintf(text, TOP_ENDPOINT_SIZE, ":%u", port);
}

void
top_divide_width(int local_longest, int remote_longest, int columns, int *local, int *remote)
{
	int room = columns - TOP_OTHER_WIDTH;

	*local = TOP_PORT_WIDTH;
	*remote = remote_longest > TOP_REMOTE_WIDTH ? remote_longest : TOP_REMOTE_WIDTH;
	if (room >= 2 * TOP_REMOTE_WIDTH) {
		int half = *remote < room / 2 ? room - *remote : room / 2;

		*local = local_longest < half ? local_longest : half;
		*local = *local > TOP_REMOTE_WIDTH ? *local : TOP_REMOTE_WIDTH;
	}
	if (*remote > room - *local)
		*remote = room - *local > TOP_REMOTE_WIDTH ? room - *local : TOP_REMOTE_WIDTH;
}

/* The address and the port of the client, or of the server. */
static const char *
top_row_address(const struct connection_row *row, unsigned server)
{
	return row->values[TOP_ADDRESS + 2 * server].text;
}

static unsigned
top_row_port(const struct connection_row *row, unsigned server)
{
	return (unsigned)row->values[TOP_PORT + 2 * server].number;
}

/* Widths of the two ends: those of all rows, so that scrolling does not change them. */
static void
top_measure(struct top_screen *screen)
{
	int local = 0, remote = 0;
	char text[TOP_ENDPOINT_SIZE];

	for (size_t i = 0; i < screen->rates->count; i++) {
		const struct connection_row *row = &screen->rates->rows[i];
		unsigned server = top_row_is_server(row);
		int length = top_format_endpoint(top_row_address(row, server), top_row_port(row, server), text);

		local = length > local ? length : local;
		length = top_format_endpoint(top_row_address(row, !server), top_row_port(row, !server), text);
		remote = length > remote ? length : remote;
	}
	top_divide_width(local, remote, COLS, &screen->local_width, &screen->remote_width);
}

static void
top_draw_row(const struct top_screen *screen, int line, int attributes, const struct connection_row *row)
{
	char in[8], out[8], rtt[8] = "-", resent[8], local[TOP_ENDPOINT_SIZE], remote[TOP_ENDPOINT_SIZE], text[512];
	char process[64];
	int local_width = screen->local_width, remote_width = screen->remote_width;
	unsigned server = top_row_is_server(row);
	const char *state = row->values[TOP_STATE + server].text, *comm = row->values[TOP_COMM].text;

	top_format_rate(screen, row, TOP_IN_BYTES, in);
	top_format_rate(screen, row, TOP_OUT_BYTES, out);
	top_format_rate(screen, row, TOP_RESENT, resent);
	if (row->values[TOP_RTT].number != 0)
		top_format_time((double)row->values[TOP_RTT].number, rtt);
	top_fit_endpoint(top_row_address(row, !server), top_row_port(row, !server), remote_width, remote);
	top_fit_endpoint(top_row_address(row, server), top_row_port(row, server), local_width, local);
	if (local_width == TOP_PORT_WIDTH)
		snprintf(local, sizeof local, ":%u", top_row_port(row, server));
	*put_plain_text(process, comm, strnlen(comm, 15)) = '\0';
	snprintf(text, sizeof text, "%-*.*s %-*.*s %-*.*s %6s %6s %7s %6s %s", TOP_STATE_WIDTH, TOP_STATE_WIDTH,
		 *state == '\0' ? row->values[TOP_PROTO].text : state, local_width, local_width, local, remote_width,
		 remote_width, remote, in, out, rtt, resent, *comm != '\0' ? process : "-");
	top_draw_line(line, attributes, text);
}

static void
top_draw_titles(const struct top_screen *screen, int line)
{
	char text[512];

	snprintf(text, sizeof text, "%-*s %-*s %-*s %6s %6s %7s %6s %s", TOP_STATE_WIDTH, "STATE", screen->local_width,
		 "LOCAL", screen->remote_width, "REMOTE", "IN/s", "OUT/s", "RTT", "RETR/s", "PROCESS");
	top_draw_line(line, A_REVERSE, text);
}

static void
top_draw_summary(const struct top_screen *screen)
{
	double in = 0, out = 0;
	char in_text[8], out_text[8], text[512];

	for (size_t i = 0; i < screen->rates->count && screen->rates->seconds > 0; i++) {
		const struct connection_row *row = &screen->rates->rows[i];

		in += (double)row->values[TOP_IN_BYTES].number / screen->rates->seconds;
		out += (double)row->values[TOP_OUT_BYTES].number / screen->rates->seconds;
	}
	top_format_bytes(in, in_text);
	top_format_bytes(out, out_text);
	snprintf(text, sizeof text, "%zu connection%s%s  in %s/s  out %s/s  every %g s  by %s%s%s%s",
		 screen->rates->count, screen->rates->count == 1 ? "" : "s", screen->rates->cut ? " of more" : "",
		 in_text, out_text, screen->interval, screen->reversed ? "-" : "", screen->sort,
		 screen->filter[0] != '\0' ? "  " : "", screen->filter);
	top_draw_line(0, (int)A_BOLD, text);
}

static const char *
top_screen_text(const struct top_screen *screen)
{
	return screen->view == TOP_HELP ? top_help : screen->detail;
}

/* Copies the next line of the terminal: a line of text that is too long continues on the next one.  Returns the text
 * after it. */
static const char *
top_next_line(const char *text, char line[TOP_LINE_SIZE])
{
	size_t width = COLS < TOP_LINE_SIZE ? (size_t)COLS : TOP_LINE_SIZE - 1;
	size_t length = strcspn(text, "\n"), part = length < width ? length : width;

	snprintf(line, TOP_LINE_SIZE, "%.*s", (int)part, text);
	return text + part + (part == length && text[part] == '\n');
}

size_t
top_screen_text_lines(const struct top_screen *screen)
{
	const char *text = top_screen_text(screen);
	char line[TOP_LINE_SIZE];
	size_t lines = 0;

	for (; *text != '\0'; lines++)
		text = top_next_line(text, line);
	return lines;
}

/* Draws the details or the help; the last page is full. */
static void
top_draw_text(const struct top_screen *screen)
{
	const char *text = top_screen_text(screen);
	size_t lines = top_screen_text_lines(screen), rows = top_screen_rows(), most = lines > rows ? lines - rows : 0;
	size_t first = screen->text_first;
	char line[TOP_LINE_SIZE];

	if (first > most)
		first = most;
	for (size_t i = 0; *text != '\0' && i < first + rows; i++) {
		text = top_next_line(text, line);
		if (i >= first)
			top_draw_line((int)(i - first) + 2, (int)A_NORMAL, line);
	}
}

/* Draws the title of the ladder, and as many of its lines as there is room for. */
static void
top_draw_ladder(struct top_screen *screen)
{
	const char *text = screen->ladder;
	char line[512];

	for (size_t i = 0, shown = 0; *text != '\0' && shown <= top_screen_rows(); i++) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
		text += length + (text[length] == '\n');
		if (i == 0 || i > screen->ladder_first)
			top_draw_line((int)++shown, i == 0 ? (int)A_REVERSE : (int)A_NORMAL, line);
	}
}

static void
top_draw_list(struct top_screen *screen)
{
	size_t rows = top_screen_rows();

	if (screen->selected < screen->first)
		screen->first = screen->selected;
	else if (screen->selected >= screen->first + rows)
		screen->first = screen->selected - rows + 1;
	top_measure(screen);
	top_draw_titles(screen, 1);
	for (size_t i = 0; i < rows && screen->first + i < screen->rates->count; i++)
		top_draw_row(screen, (int)i + 2, screen->first + i == screen->selected ? A_STANDOUT : A_NORMAL,
			     &screen->rates->rows[screen->first + i]);
}

/* Whether the terminal is wide enough.  If not, getch() must not draw what has changed, either. */
static bool
top_is_wide_enough(void)
{
	if (COLS >= TOP_COLUMNS_MIN)
		return true;
	untouchwin(stdscr);
	return false;
}

void
top_screen_draw(struct top_screen *screen)
{
	if (!top_is_wide_enough())
		return;
	erase();
	top_draw_summary(screen);
	if (screen->view == TOP_LIST)
		top_draw_list(screen);
	else if (screen->view == TOP_LADDER)
		top_draw_ladder(screen);
	else
		top_draw_text(screen);
	if (LINES > TOP_OTHER_LINES)
		top_draw_line(LINES - 1, A_REVERSE, screen->message[0] != '\0' ? screen->message : top_keys);
	refresh();
}

void
top_screen_draw_prompt(struct top_screen *screen, const char *prompt, const char *typed)
{
	const char *message = screen->message;
	char line[512];
	size_t length = strlen(prompt) + strlen(typed), width = (size_t)COLS - 1;

	if (!top_is_wide_enough())
		return;
	snprintf(line, sizeof line, "%s%s", prompt, typed);
	screen->message = line + (length > width ? length - width : 0);
	top_screen_draw(screen);
	move(LINES - 1, (int)(length < width ? length : width));
	refresh();
	screen->message = message;
}
