/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connections/top.h"

#include <errno.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/connections/connection_list.h"
#include "tools/connections/connections.h"
#include "tools/connections/terminal.h"
#include "tools/connections/top_screen.h"
#include "tools/control_client.h"
#include "tools/history/history.h"
#include "tools/json_reader.h"
#include "tools/write_client.h"

/* The first rates are shown after this part of an interval: the user waits for them. */
#define TOP_FIRST_INTERVAL_NS UINT64_C(300000000)

/* Connections that are read: about 50 MB. */
#define TOP_ROWS_MAX 100000u

/* More lines than a list or a ladder has. */
#define TOP_ALL_LINES 10000000L

/* ncurses has no names for these. */
#define TOP_KEY_ESCAPE 27
#define TOP_KEY_CLEAR  21 /* Ctrl-U */

struct top {
	const char *path;
	struct connection_columns columns;
	struct connection_list before, rates;
	struct top_screen screen;
	uint64_t cid; /* of the connection that is selected, 0: none */
	uint64_t next_ns;
	uint64_t interval_ns;
	char filter[CONNECTIONS_EXPRESSION_SIZE];
	char error[1024];   /* why there is no list, "" if there is */
	char message[1024]; /* of the last key */
	char detail[8192];
	char *ladder;	     /* HISTORY_TEXT_MAX bytes */
	size_t ladder_lines; /* below the title */
};

static const enum top_field top_orders[] = {TOP_OUT_BYTES, TOP_IN_BYTES, TOP_RTT,	       TOP_RESENT,
					    TOP_CID,	   TOP_STATE,	 TOP_ADDRESS + 2, TOP_COMM};

#define TOP_ORDERS (sizeof top_orders / sizeof top_orders[0])

/* ---------------------------------------------------------------------------------------------------- the selection */

static void
top_select(struct top *top, size_t row)
{
	size_t count = top->rates.count;

	top->screen.selected = row < count ? row : count > 0 ? count - 1 : 0;
	top->cid = count > 0 ? top->rates.rows[top->screen.selected].cid : 0;
}

static void
top_move(struct top *top, long rows)
{
	long row = (long)top->screen.selected + rows;

	top_select(top, row > 0 ? (size_t)row : 0);
}

/* Moves the first of `count` lines that is shown; the last page is full. */
static void
top_scroll(size_t *first, size_t count, long lines)
{
	long last = (long)count - (long)top_screen_rows(), next = (long)*first + lines;

	next = next < last ? next : last;
	*first = next > 0 ? (size_t)next : 0;
}

static void
top_scroll_ladder(struct top *top, long lines)
{
	top_scroll(&top->screen.ladder_first, top->ladder_lines, lines);
}

/* Moves the lines of the details or the help that are shown. */
static void
top_scroll_text(struct top *top, long lines)
{
	size_t *first = &top->screen.text_first, count = top_screen_text_lines(&top->screen);

	if (*first > count)
		*first = count;
	top_scroll(first, count, lines);
	if (lines == TOP_ALL_LINES)
		*first = SIZE_MAX; /* the details may become longer */
}

/* Sorts the list.  The selection stays with its connection; if the connection has ended, with its row, unless its
 * details are shown. */
static void
top_sort(struct top *top)
{
	uint64_t cid = top->cid;

	connection_list_sort(&top->rates, &top->columns);
	for (size_t i = 0; cid != 0 && i < top->rates.count; i++)
		if (top->rates.rows[i].cid == cid) {
			top_select(top, i);
			return;
		}
	if (top->screen.view != TOP_DETAIL && top->screen.view != TOP_LADDER)
		top_select(top, top->screen.selected);
}

/* --------------------------------------------------------------------------------------------------------- requests */

/* Requests at most `most` connections. */
static bool
top_receive(struct top *top, size_t most, struct connection_list *list)
{
	struct connection_request request = {
	    .path = top->path, .expression = top->filter, .most = most, .no_wait = true};

	return connection_list_receive(list, &top->columns, &request, top->error, sizeof top->error);
}

/* Whether netobsd replies, and the expression is right; if not, top->error and errno as of
 * connection_list_receive(). */
static bool
top_check_filter(struct top *top)
{
	struct connection_list list;
	bool done = top_receive(top, 1, &list);

	if (done)
		connection_list_clear(&list);
	return done;
}

static void
top_clear_lists(struct top *top)
{
	connection_list_clear(&top->before);
	connection_list_clear(&top->rates);
}

/* Most bytes of a status, of which a path is the longest part. */
#define STATUS_MAX 32768u

/* Adds the line for a tracer of a TCP connection: "attach" of the status, with this connection only. */
static void
top_add_tracer(struct top *top)
{
	char error[256];
	size_t used = strlen(top->detail);
	json_t *lines = strncmp(top->detail, "TCP,", 4) == 0
			    ? client_read_array(top->path, "status\n", STATUS_MAX, error, sizeof error)
			    : NULL;
	const char *attach = json_read_string(json_array_get(lines, 0), "attach");

	/* cs_cid is at the 8th byte of csinfo_t: the line needs no header.  The blank keeps bpftrace from reading a
	 * comment. */
	if (attach != NULL)
		snprintf(top->detail + used, sizeof top->detail - used,
			 "Tracer:  bpftrace -e '%stcp__state__change / *(uint64 *)(arg1 + 8) == %llu/ "
			 "{ printf(\"%%s\\n\", probe); }'\n",
			 attach, (unsigned long long)top->cid);
	json_decref(lines);
}

static void
top_update_detail(struct top *top)
{
	unsigned long long cid = (unsigned long long)top->cid;
	size_t used;

	if (!connection_describe(top->path, top->cid, top->detail, sizeof top->detail))
		return;
	used = strlen(top->detail);
	snprintf(top->detail + used, sizeof top->detail - used,
		 "\nLadder:  l\nPackets: w, or netobsctl write --cid %llu -w cid-%llu.pcapng\n", cid, cid);
	top_add_tracer(top);
}

/* Requests everything that is shown.  If netobsd does not reply, the next interval tries again: then another one may
 * reply, with other connection ids. */
static void
top_update(struct top *top)
{
	struct connection_list list;
	bool first = top->before.time_ns == 0, done;

	top->error[0] = '\0';
	done = top_receive(top, TOP_ROWS_MAX, &list);
	top->next_ns = connection_list_now() + (done && first ? TOP_FIRST_INTERVAL_NS : top->interval_ns);
	if (!done) {
		top_clear_lists(top);
		top->screen.view = top->screen.view == TOP_HELP ? TOP_HELP : TOP_LIST;
		return;
	}
	connection_list_clear(&top->rates);
	if (!first && !connection_list_make_rates(&top->rates, &list, &top->before, &top->columns))
		snprintf(top->error, sizeof top->error, "out of memory");
	connection_list_clear(&top->before);
	top->before = list;
	top_sort(top);
	if (top->screen.view == TOP_DETAIL)
		top_update_detail(top);
}

/* Writes the packets of the selected connection into a file. */
static void
top_write(struct top *top)
{
	char path[64], arguments[64];
	struct write_request request = {.socket = top->path, .arguments = arguments, .path = path};
	struct written_capture written;

	if (top->cid == 0)
		return;
	snprintf(path, sizeof path, "cid-%llu.pcapng", (unsigned long long)top->cid);
	snprintf(arguments, sizeof arguments, "--cid=%llu", (unsigned long long)top->cid);
	if (write_client_run(&request, &written, top->message, sizeof top->message))
		snprintf(top->message, sizeof top->message, "%s: %llu frames, %llu bytes%s", path,
			 (unsigned long long)written.frames, (unsigned long long)written.bytes,
			 written.cut ? "; earlier frames are not in the flight memory any more" : "");
}

/* Shows the packets of the selected connection up to now, and of them the last ones. */
static void
top_show_ladder(struct top *top)
{
	struct history_request request = {.socket = top->path, .cid = top->cid};
	const struct connection_row *row;
	char ports[2][8];

	if (top->cid == 0)
		return;
	row = top->screen.selected < top->rates.count ? &top->rates.rows[top->screen.selected] : NULL;
	if (row == NULL || row->cid != top->cid) {
		snprintf(top->message, sizeof top->message, "connection %llu is not in the list any more",
			 (unsigned long long)top->cid);
		return;
	}
	for (unsigned end = 0; end < 2; end++) {
		unsigned server = top_row_is_server(row) != (end == 1);

		request.address[end] = row->values[TOP_ADDRESS + 2 * server].text;
		snprintf(ports[end], sizeof ports[end], "%u", (unsigned)row->values[TOP_PORT + 2 * server].number);
		request.port[end] = ports[end];
	}
	if (!history_read(&request, top->ladder, top->message, sizeof top->message))
		return;
	top->ladder_lines = 0;
	for (const char *at = top->ladder; *at != '\0'; at++)
		top->ladder_lines += *at == '\n';
	top->ladder_lines -= top->ladder_lines > 0;
	top->screen.view = TOP_LADDER;
	top_scroll_ladder(top, TOP_ALL_LINES);
}

/* ------------------------------------------------------------------------------------------------------------- keys */

static void
top_set_order(struct top *top, unsigned field, bool reversed)
{
	const struct field_info *by = top->columns.fields.fields[field];
	char order[64], error[RECORD_ERROR_MAX];

	snprintf(order, sizeof order, "%s%s", reversed ? "-" : "", by->name);
	if (record_order_parse(order, &top->columns.order, error))
		top->columns.sort = field;
	top->screen.sort = record_field_short_name(by);
	top->screen.reversed = reversed;
	top_sort(top);
}

/* Sorts by the field that is `steps` after the present one in top_orders. */
static void
top_change_order(struct top *top, size_t steps)
{
	size_t order = 0;

	while (order < TOP_ORDERS - 1 && top_orders[order] != top->columns.sort)
		order++;
	top_set_order(top, top_orders[(order + steps) % TOP_ORDERS], top->screen.reversed);
}

static bool
top_is_enter(int key)
{
	return key == '\r' || key == '\n' || key == KEY_ENTER;
}

/* Edits an expression; false if the user leaves it.  getnstr(3) would end at a change of the terminal's size. */
static bool
top_read_filter(struct top *top, char text[sizeof top->filter])
{
	size_t length = strlen(text);
	int key;

	do {
		text[length] = '\0';
		top_screen_draw_prompt(&top->screen, "Expression: ", text);
		key = getch();
		if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length > 0)
			length--;
		else if (key == TOP_KEY_CLEAR)
			length = 0;
		else if (key >= ' ' && key <= '~' && length < sizeof top->filter - 1)
			text[length++] = (char)key;
	} while (!top_is_enter(key) && key != TOP_KEY_ESCAPE && key != ERR);
	return top_is_enter(key);
}

/* Reads an expression, beginning with the present one.  If it is wrong, the present one and the list remain. */
static void
top_edit_filter(struct top *top)
{
	char text[sizeof top->filter], before[sizeof top->filter];
	bool done;

	memcpy(before, top->filter, sizeof before);
	memcpy(text, top->filter, sizeof text);
	timeout(-1);
	curs_set(1);
	done = top_read_filter(top, text);
	curs_set(0);
	if (!done)
		return;
	memcpy(top->filter, text, sizeof text);
	if (!top_check_filter(top) && errno == 0) {
		memcpy(top->filter, before, sizeof before);
		memcpy(top->message, top->error, sizeof top->message);
		top->error[0] = '\0';
		return;
	}
	top_clear_lists(top);
	top_update(top);
}

/* Shows a view.  The list is sorted again: its selection did not move while the details of a connection that had ended
 * were shown. */
static void
top_show(struct top *top, enum top_view view)
{
	top->screen.view = view == TOP_DETAIL && top->cid == 0 ? TOP_LIST : view;
	top->screen.text_first = 0;
	if (top->screen.view == TOP_DETAIL)
		top_update_detail(top);
	else
		top_sort(top);
}

/* The lines by which a key moves the selection or a text; 0 if it is another key. */
static long
top_key_lines(int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		return -1;
	case KEY_DOWN:
	case 'j':
		return 1;
	case KEY_PPAGE:
		return -(long)top_screen_rows();
	case KEY_NPAGE:
		return (long)top_screen_rows();
	case KEY_HOME:
		return -TOP_ALL_LINES;
	case KEY_END:
		return TOP_ALL_LINES;
	default:
		return 0;
	}
}

/* Moves the selection, or the text that is shown, by a key; false if it is another key.  Beside the details of a
 * connection the keys of single lines select another one. */
static bool
top_handle_move(struct top *top, int key)
{
	const enum top_view view = top->screen.view;
	long lines = top_key_lines(key);
	bool single = lines == 1 || lines == -1;

	if (lines == 0)
		return false;
	if (view == TOP_LADDER)
		top_scroll_ladder(top, lines);
	else if (view == TOP_HELP || (view == TOP_DETAIL && !single))
		top_scroll_text(top, lines);
	else
		top_move(top, lines);
	if (view == TOP_DETAIL && single) {
		top->screen.text_first = 0;
		top->next_ns = 0; /* requests the details of the other connection at once */
	}
	return true;
}

/* Acts on a key; false if it ends the program. */
static bool
top_handle_key(struct top *top, int key)
{
	top->message[0] = '\0';
	if (top_handle_move(top, key))
		return true;
	switch (key) {
	case 'q':
		return false;
	case '\r':
	case '\n':
	case KEY_ENTER:
		top_show(top, top->screen.view == TOP_DETAIL ? TOP_LIST : TOP_DETAIL);
		break;
	case TOP_KEY_ESCAPE:
		top_show(top, top->screen.view == TOP_LADDER ? TOP_DETAIL : TOP_LIST);
		break;
	case 'l':
		top_show_ladder(top);
		break;
	case 'h':
	case '?':
		top_show(top, top->screen.view == TOP_HELP ? TOP_LIST : TOP_HELP);
		break;
	case 'w':
		top_write(top);
		break;
	case 's':
		top_change_order(top, 1);
		break;
	case 'S':
		top_change_order(top, TOP_ORDERS - 1);
		break;
	case 'r':
		top_set_order(top, top->columns.sort, !top->screen.reversed);
		break;
	case '/':
		top_edit_filter(top);
		break;
	default: /* KEY_RESIZE, too: the screen is drawn anew */
		break;
	}
	return true;
}

/* Draws, and handles a key or the end of an interval, until the user leaves.  What a key changes is drawn before the
 * next requests, which may take a second (connection CID of netobsctl(8)).  False if the terminal is gone. */
static bool
top_loop(struct top *top)
{
	int key = ERR;

	do {
		uint64_t now = connection_list_now();

		top->screen.message = top->error[0] != '\0' ? top->error : top->message;
		top_screen_draw(&top->screen);
		timeout(now < top->next_ns ? (int)((top->next_ns - now) / 1000000 + 1) : 0);
		key = getch();
		if (key == ERR && terminal_is_gone())
			return false;
		if (key == ERR && connection_list_now() >= top->next_ns)
			top_update(top);
	} while (key == ERR || top_handle_key(top, key));
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- options */

int
top_run(const char *path, char *const *words, int count, const struct connections_options *options)
{
	struct top top = {.path = path};
	bool left;

	const char *sort = options->sort != NULL ? options->sort : "out_bytes";
	char error[RECORD_ERROR_MAX];

	if (!connections_parse_interval(options->interval, &top.screen.interval))
		return EXIT_FAILURE;
	if (!connection_columns_choose(&top.columns, TOP_FIELDS, sort, error))
		return client_log_error(error, NULL);
	if (!connections_join_words(words, count, top.filter))
		return client_log_error("the expression is too long or contains a line break", NULL);
	if (top.screen.interval == 0)
		top.screen.interval = 2;
	/* Report a wrong expression, or that no netobsd listens, before the screen changes. */
	if (!top_check_filter(&top))
		return client_log_error(top.error, NULL);
	top.ladder = malloc(HISTORY_TEXT_MAX);
	if (top.ladder == NULL)
		return client_log_error("out of memory", NULL);
	if (!terminal_begin()) {
		free(top.ladder);
		return EXIT_FAILURE;
	}
	top.interval_ns = (uint64_t)(top.screen.interval * 1e9);
	top.screen.rates = &top.rates;
	top_set_order(&top, top.columns.sort, sort[0] == '-');
	top.screen.filter = top.filter;
	top.screen.detail = top.detail;
	top.screen.ladder = top.ladder;
	set_escdelay(50);
	left = top_loop(&top);
	terminal_end();
	top_clear_lists(&top);
	free(top.ladder);
	return left ? EXIT_SUCCESS : client_log_error("the terminal is gone", NULL);
}
