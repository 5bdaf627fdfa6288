/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of `netobsctl top`: its content, and drawing it with ncurses. */
#ifndef NETOBS_TOOLS_CONNECTIONS_TOP_SCREEN_H
#define NETOBS_TOOLS_CONNECTIONS_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/connections/connection_list.h"

/* The fields that top requests, in this order. */
#define TOP_FIELDS \
	"cid,protostr,local,client_state,server_state,client,client_port,server,server_port,in_bytes,out_bytes," \
	"rtt_us,resent,comm"

enum top_field {
	TOP_CID,
	TOP_PROTO,
	TOP_LOCAL,
	TOP_STATE, /* of the client; that of the server follows, and so in the next ones */
	TOP_ADDRESS = TOP_STATE + 2,
	TOP_PORT,
	TOP_IN_BYTES = TOP_ADDRESS + 4,
	TOP_OUT_BYTES,
	TOP_RTT,
	TOP_RESENT,
	TOP_COMM,
};

/* Whether the server is the end that is shown as local: only it is. */
bool top_row_is_server(const struct connection_row *row);

enum top_view { TOP_LIST, TOP_DETAIL, TOP_LADDER, TOP_HELP };

struct top_screen {
	enum top_view view;
	const struct connection_list *rates; /* sorted */
	const char *sort;		     /* the name of the field */
	bool reversed;
	size_t selected; /* row */
	size_t first;	 /* the row at the top of the list; top_screen_draw() scrolls */
	double interval; /* seconds */
	const char *filter;
	const char *message; /* the last line, "" for the keys */
	const char *detail;  /* TOP_DETAIL: lines of text */
	const char *ladder;  /* TOP_LADDER: likewise, the first one is a title */
	size_t ladder_first; /* the line below the title */
	size_t text_first;   /* TOP_DETAIL, TOP_HELP: the line at the top; after the last page: that */
	/* Columns of the ends in the list; top_screen_draw() sets them. */
	int local_width, remote_width;
};

/* Draws everything.  Works in a terminal of any size, which may show only a part, or nothing if it has one or two
 * columns. */
void top_screen_draw(struct top_screen *screen);

/* Draws everything, with a prompt and what the user has typed in the last line: the end of it in a narrow terminal. */
void top_screen_draw_prompt(struct top_screen *screen, const char *prompt, const char *typed);

/* Rows of the list, or lines of the other views, that the terminal has room for, at least 1. */
size_t top_screen_rows(void);

/* Lines of the terminal that the details or the help need in its present width. */
size_t top_screen_text_lines(const struct top_screen *screen);

/* Bytes of an end as text: "[", an IPv6 address of at most 45 characters, "]:65535", and a NUL. */
#define TOP_ENDPOINT_SIZE 64

/* Formats an end in a width of at least that of ":65535".  An address that is too long has ".." in its middle. */
void top_fit_endpoint(const char *address, unsigned port, int width, char text[TOP_ENDPOINT_SIZE]);

/* Divides the columns of a terminal among the longest ends.  The local one is only a port unless there is room for
 * both. */
void top_divide_width(int local_longest, int remote_longest, int columns, int *local, int *remote);

#endif
