/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a history: what becomes of the lines that netobsd prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/replay/history_lines.h"

#define LOCAL  "10.0.0.1:1000"
#define REMOTE "[2001:db8::1]:80"

static char text[4096];

static struct history_lines
history(size_t size)
{
	struct history_lines lines = {.text = text, .size = size, .local = LOCAL, .remote = REMOTE};

	text[0] = '\0';
	return lines;
}

static void
add(struct history_lines *lines, const char *line)
{
	history_lines_add(line, strlen(line), lines);
}

static void
test_ladder(void **state)
{
	struct history_lines lines = history(sizeof text);

	(void)state;
	add(&lines, "2026-12-31T23:59:59.900000000Z tcp-state-change " LOCAL " - " REMOTE
		    ": state-closed -> state-syn-sent, cid 3");
	add(&lines, "2026-12-31T23:59:59.900000000Z tcp-send " LOCAL " > " REMOTE
		    ": SYN, seq 1, win 4000, length 0, state-syn-sent, cid 3");
	add(&lines, "2027-01-01T00:00:00.100000500Z tcp-send " REMOTE " > " LOCAL
		    ": SYN|ACK, seq 7, ack 2, win 4000, length 0, state-syn-received, cid 4");
	assert_string_equal(text, "     SECONDS  10.0.0.1:1000                        [2001:db8::1]:80\n"
				  "    0.000000  closed -> syn-sent\n"
				  "    0.000000  SYN                             -->\n"
				  "    0.200000                                  <--  SYN|ACK, ack 1\n");
}

/* Adds a packet in front of which only the titles and times are fixed; its words. */
static const char *
words(struct history_lines *lines, const char *line)
{
	size_t used;

	add(lines, "2026-11-23T00:00:00.000000000Z udp-send " LOCAL " > " REMOTE ": length 5, cid 1");
	used = lines->used;
	add(lines, line);
	return lines->used == used ? "" : text + used + strlen("    0.000000  ");
}

static void
test_packets(void **state)
{
	struct history_lines lines = history(sizeof text);

	(void)state;
#define AT "2026-11-23T00:00:00.000000000Z "
	assert_string_equal(words(&lines, AT "udp-send " LOCAL " > " REMOTE ": length 37, cid 1"),
			    "37 bytes                        -->\n");
	assert_string_equal(words(&lines, AT "udp-send " LOCAL " > " REMOTE ": length 0, cid 1"),
			    "0 bytes                         -->\n");
	assert_string_equal(
	    words(&lines, AT "sctp-send 10.0.0.9:1000 > " REMOTE ": INIT, 1 chunks, tag 0x0, closed, cid 1"),
	    "INIT                            -->\n");
	assert_string_equal(words(&lines, AT "tcp-send " LOCAL " > " REMOTE
					     ": ACK, seq 1, ack 2, win 0, length 0, state-established, cid 1"),
			    "ACK, ack 1, window 0            -->\n");
	assert_string_equal(
	    words(&lines, AT "tcp-send " LOCAL " > " REMOTE ": RST, seq 1, win 0, length 0, state-closed, cid 1"),
	    "RST 1                           -->\n");
	assert_string_equal(words(&lines, AT "tcp-retransmit " LOCAL " > " REMOTE
					     ": PSH|ACK, seq 1, ack 2, win 8, length 10, timeout, sent 2 times, after "
					     "4 us, state-established, cid 1"),
			    "");
	add(&lines, "");
	assert_string_equal(lines.resent, "timeout");
	lines.used = 0;
	add(&lines, AT "tcp-send " LOCAL " > " REMOTE ": PSH|ACK, seq 1, ack 2, win 8, length 10, state-x, cid 1");
	assert_string_equal(text, "    0.000000  PSH|ACK 1:11, ack 1, again: timeout  -->\n");
	assert_string_equal(lines.resent, "");
}

/* Numbers of a connection that is captured from the middle, and that wrap. */
static void
test_numbers(void **state)
{
	struct history_lines lines = history(sizeof text);

	(void)state;
	assert_string_equal(
	    words(&lines, AT "tcp-send " REMOTE " > " LOCAL ": ACK, seq 500, ack 4294967290, win 5, length 0, cid 1"),
	    "                                <--  ACK, ack 1\n");
	assert_string_equal(
	    words(&lines, AT "tcp-send " LOCAL " > " REMOTE
			     ": PSH|ACK, seq 4294967290, ack 500, win 5, length 16, cid 1"),
	    "PSH|ACK 1:17, ack 1             -->\n");
	assert_string_equal(
	    words(&lines, AT "tcp-send " LOCAL " > " REMOTE ": FIN|ACK, seq 10, ack 600, win 5, length 0, cid 1"),
	    "FIN|ACK 17, ack 101             -->\n");
	assert_string_equal(
	    words(&lines, AT "tcp-send " REMOTE " > " LOCAL ": SYN, seq 9, win 5, length 4, cid 1"),
	    "                                <--  SYN 1:5\n");
}

/* Both ends of an association of SCTP often have the same port. */
static void
test_equal_ports(void **state)
{
	struct history_lines lines = {
	    .text = text, .size = sizeof text, .local = "10.0.0.1:36412", .remote = "10.0.0.2:36412"};

	(void)state;
	text[0] = '\0';
	add(&lines, AT "sctp-send 10.0.0.1:36412 > 10.0.0.2:36412: INIT, 1 chunks, cid 1");
	assert_string_equal(words(&lines, AT "sctp-send 10.0.0.1:36412 > 10.9.0.2:36412: DATA, 1 chunks, cid 1"),
			    "DATA                            -->\n");
	assert_string_equal(words(&lines, AT "sctp-send 10.9.0.1:36412 > 10.0.0.2:36412: DATA, 1 chunks, cid 1"),
			    "DATA                            -->\n");
	assert_string_equal(words(&lines, AT "sctp-send 10.9.0.2:36412 > 10.0.0.1:36412: SACK, 1 chunks, cid 2"),
			    "                                <--  SACK\n");
	assert_string_equal(words(&lines, AT "sctp-send 10.0.0.2:36412 > 10.9.0.1:36412: SACK, 1 chunks, cid 2"),
			    "                                <--  SACK\n");
}

/* A frame of a tunnel is a packet of each connection inside, with other ends. */
static void
test_tunnel(void **state)
{
	struct history_lines lines = history(sizeof text);

	(void)state;
	assert_string_equal(words(&lines, AT "udp-send 192.0.2.1:50000 > 192.0.2.2:4789: length 100, cid 5"), "");
	assert_string_equal(words(&lines, AT "udp-send 192.0.2.1:1000 > " REMOTE ": length 100, cid 5"), "");
	assert_string_equal(words(&lines, AT "tcp-state-change 192.0.2.1:1000 - " REMOTE
					     ": state-closed -> state-syn-sent, cid 5"),
			    "");
	assert_string_equal(words(&lines, AT "tcp-retransmit 192.0.2.1:1000 > " REMOTE
					     ": SYN, seq 1, ack 2, win 8, length 10, timeout, sent 2 times, after "
					     "4 us, state-established, cid 1"),
			    "");
	assert_string_equal(lines.resent, "");
	assert_string_equal(words(&lines, AT "sctp-send 10.0.0.9:1001 > " REMOTE ": INIT, 1 chunks, cid 1"), "");
	assert_string_equal(words(&lines, AT "udp-send " REMOTE " > " LOCAL ": length 100, cid 2"),
			    "                                <--  100 bytes\n");
}

static void
test_other_lines(void **state)
{
	struct history_lines lines = history(sizeof text);
	char longest[2000];

	(void)state;
	add(&lines, "");
	add(&lines, "nonsense");
	add(&lines, "a b c d e");
	add(&lines, "2026-11-23T00:00:00.000000000Z tcp-send a > b: SYN");
	add(&lines, "2026-11-23T00:00:00.000000000Z tcp-send " LOCAL " >");
	add(&lines, "2026-13-23T00:00:00.000000000Z tcp-send " LOCAL " > " REMOTE ": SYN, length 0");
	memset(longest, ' ', sizeof longest);
	history_lines_add(longest, sizeof longest, &lines);
	assert_string_equal(text, "");
	assert_int_equal(lines.used, 0);
}

static void
test_full(void **state)
{
	struct history_lines lines = history(300);
	char last[100];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(last, sizeof last, AT "udp-send " LOCAL " > " REMOTE ": length %u, cid 1", i);
		add(&lines, last);
		assert_int_equal(lines.used, strlen(text));
		assert_true(lines.used < 300);
	}
	assert_true(lines.cut);
	assert_memory_equal(text, "     SECONDS  " LOCAL, strlen("     SECONDS  " LOCAL));
	assert_non_null(strstr(text, "\n    0.000000  998 bytes"));
	assert_non_null(strstr(text, "\n    0.000000  999 bytes                       -->\n"));
	assert_null(strstr(text, "\n    0.000000  0 bytes"));
}

static void
test_no_room(void **state)
{
	struct history_lines lines = history(20);

	(void)state;
	add(&lines, AT "udp-send " LOCAL " > " REMOTE ": length 1, cid 1");
	assert_string_equal(text, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ladder), cmocka_unit_test(test_packets), cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_equal_ports), cmocka_unit_test(test_tunnel), cmocka_unit_test(test_other_lines),
	    cmocka_unit_test(test_full), cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
