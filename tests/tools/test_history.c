/* SPDX-License-Identifier: BSD-2-Clause */
/* The history of a connection: rows of firings, their lines, and the process that parses packets. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "flow/endpoint.h"
#include "flow/event.h"
#include "probes/firing.h"
#include "probes/names.h"
#include "probes/netobs.h"
#include "tools/history/history.h"

#define LOCAL	    "10.0.0.1", 1000
#define REMOTE	    "2001:db8::1", 80
#define MIDNIGHT    (UINT64_C(1798761600) * 1000000000) /* 2027-01-01 */
#define ROWS_MAX    4096u

static char text[4096];
static const struct history_ends usual_ends = {{"10.0.0.1", "2001:db8::1"}, {1000, 80}};

/* A history whose rows are lines of a ladder. */
struct fixture {
	struct history history;
	struct history_ladder ladder;
};

static void
begin_with(struct fixture *f, const struct history_ends *ends, size_t size)
{
	text[0] = '\0';
	*f = (struct fixture){.history = {.ends = *ends, .take = history_ladder_add, .context = &f->ladder},
			      .ladder = {.text = text, .size = size, .ends = &f->history.ends}};
}

static void
begin(struct fixture *f, size_t size)
{
	begin_with(f, &usual_ends, size);
}

/* ----------------------------------------------------------------------------------------------------- the firings */

static uint64_t now;
static uint64_t changed; /* time of the next change; 0: now */

static struct ipinfo
ip_between(const char *from, const char *to)
{
	struct ipinfo ip = {0};

	field_set_string(ip.ip_saddr, sizeof ip.ip_saddr, from);
	field_set_string(ip.ip_daddr, sizeof ip.ip_daddr, to);
	return ip;
}

static void
fire(struct fixture *f, enum probe_id probe, const void *const args[6])
{
	struct firing firing = {.probe = probe, .built = 0x3f, .ts = now};

	memcpy(firing.args, args, sizeof firing.args);
	history_fire(&f->history, &firing);
}

/* A segment, and with `again` the firing of its retransmission before. */
static void
segment(struct fixture *f, const char *from, uint16_t sport, const char *to, uint16_t dport, uint8_t flags,
	const uint32_t numbers[4], uint32_t again)
{
	struct ipinfo ip = ip_between(from, to);
	struct tcpinfo tcp = {.tcp_sport = sport,
			      .tcp_dport = dport,
			      .tcp_offset = 20,
			      .tcp_flags = flags,
			      .tcp_seq = numbers[0],
			      .tcp_ack = numbers[1],
			      .tcp_window = (uint16_t)numbers[2],
			      .tcp_payload = numbers[3]};
	struct tcprinfo tcpr = {.tcpr_kind = again};
	const void *args[6] = {[2] = &ip, [4] = &tcp, [5] = again != 0 ? &tcpr : NULL};

	fire(f, again != 0 ? PROBE_TCP_RETRANSMIT : PROBE_TCP_SEND, args);
}

#define NUMBERS(...) ((const uint32_t[4]){__VA_ARGS__})

static void
datagram(struct fixture *f, const char *from, uint16_t sport, const char *to, uint16_t dport, uint16_t length)
{
	struct ipinfo ip = ip_between(from, to);
	struct udpinfo udp = {.udp_sport = sport, .udp_dport = dport, .udp_length = length};
	const void *args[6] = {[2] = &ip, [3] = &udp};

	fire(f, PROBE_UDP_SEND, args);
}

static void
chunks(struct fixture *f, const char *from, uint16_t sport, const char *to, uint16_t dport, uint32_t type,
       uint32_t count)
{
	struct ipinfo ip = ip_between(from, to);
	struct sctpinfo sctp = {
	    .sctp_sport = sport, .sctp_dport = dport, .sctp_chunk_type = type, .sctp_chunk_count = count};
	const void *args[6] = {[2] = &ip, [4] = &sctp};

	fire(f, PROBE_SCTP_SEND, args);
}

static void
change(struct fixture *f, const char *local, uint16_t lport, const char *remote, uint16_t rport, enum tcp_state before,
       enum tcp_state after)
{
	struct tcpnsinfo tcpns = {.tcps_lport = lport, .tcps_rport = rport, .tcps_state = (int32_t)after};
	struct tcplsinfo tcpls = {.tcps_state = (int32_t)before};
	struct csinfo cs = {.cs_ts = changed != 0 ? changed : now};
	const void *args[6] = {[1] = &cs, [3] = &tcpns, [5] = &tcpls};

	field_set_string(tcpns.tcps_laddr, sizeof tcpns.tcps_laddr, local);
	field_set_string(tcpns.tcps_raddr, sizeof tcpns.tcps_raddr, remote);
	fire(f, PROBE_TCP_STATE_CHANGE, args);
}

static void
sctp_change(struct fixture *f, const char *local, uint16_t lport, const char *remote, uint16_t rport,
	    enum sctp_state before, enum sctp_state after)
{
	struct sctpsinfo sctps = {.sctps_lport = lport, .sctps_rport = rport, .sctps_state = (int32_t)after};
	struct sctplsinfo sctpls = {.sctps_state = (int32_t)before};
	const void *args[6] = {[3] = &sctps, [5] = &sctpls};

	field_set_string(sctps.sctps_laddr, sizeof sctps.sctps_laddr, local);
	field_set_string(sctps.sctps_raddr, sizeof sctps.sctps_raddr, remote);
	fire(f, PROBE_SCTP_STATE_CHANGE, args);
}

/* ------------------------------------------------------------------------------------------------- rows and lines */

enum { SYN = NETOBS_TH_SYN, ACK = NETOBS_TH_ACK, RST = NETOBS_TH_RST, FIN = NETOBS_TH_FIN, PSH = NETOBS_TH_PSH };

static void
test_ladder(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, sizeof text);
	now = MIDNIGHT - 100000000;
	change(&f, LOCAL, REMOTE, TCP_STATE_CLOSED, TCP_STATE_SYN_SENT);
	segment(&f, LOCAL, REMOTE, SYN, NUMBERS(1, 0, 4000, 0), 0);
	now = MIDNIGHT + 100000500;
	segment(&f, REMOTE, LOCAL, SYN | ACK, NUMBERS(7, 2, 4000, 0), 0);
	assert_string_equal(text, "     SECONDS  10.0.0.1:1000                        [2001:db8::1]:80\n"
				  "    0.000000  closed -> syn-sent\n"
				  "    0.000000  SYN                             -->\n"
				  "    0.200000                                  <--  SYN|ACK, ack 1\n");
}

/* The server is established at the time of the ACK, which a later packet proves. */
static void
test_proved_later(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, sizeof text);
	now = MIDNIGHT;
	segment(&f, LOCAL, REMOTE, ACK, NUMBERS(2, 8, 4000, 0), 0);
	now += 1000;
	segment(&f, LOCAL, REMOTE, FIN | ACK, NUMBERS(2, 8, 4000, 0), 0);
	now += 1000;
	changed = MIDNIGHT;
	change(&f, REMOTE, LOCAL, TCP_STATE_SYN_RECEIVED, TCP_STATE_ESTABLISHED);
	changed = 0;
	change(&f, REMOTE, LOCAL, TCP_STATE_ESTABLISHED, TCP_STATE_CLOSE_WAIT);
	assert_string_equal(text, "     SECONDS  10.0.0.1:1000                        [2001:db8::1]:80\n"
				  "    0.000000  ACK, ack 1                      -->\n"
				  "    0.000000                                       syn-received -> established\n"
				  "    0.000001  FIN|ACK 1, ack 1                -->\n"
				  "    0.000002                                       established -> close-wait\n");
}

static size_t mark; /* where the line of the next firing begins */

/* Begins a history with a datagram: the title and its line are there. */
static void
begin_words(struct fixture *f)
{
	begin(f, sizeof text);
	now = MIDNIGHT;
	datagram(f, LOCAL, REMOTE, 5);
	mark = f->ladder.used;
}

/* The words of the line that was added since the last call, "" if no line was. */
static const char *
words(struct fixture *f)
{
	const char *line = f->ladder.used == mark ? "" : text + mark + strlen("    0.000000  ");

	mark = f->ladder.used;
	return line;
}

static void
test_packets(void **state)
{
	struct fixture f;

	(void)state;
	begin_words(&f);
	datagram(&f, LOCAL, REMOTE, 37);
	assert_string_equal(words(&f), "37 bytes                        -->\n");
	datagram(&f, LOCAL, REMOTE, 0);
	assert_string_equal(words(&f), "0 bytes                         -->\n");
	chunks(&f, "10.0.0.9", 1000, REMOTE, 1, 1);
	assert_string_equal(words(&f), "INIT                            -->\n");
	chunks(&f, LOCAL, REMOTE, 0, 0);
	assert_string_equal(words(&f), "0 chunks                        -->\n");
	chunks(&f, REMOTE, LOCAL, 192, 3);
	assert_string_equal(words(&f), "                                <--  chunk 192\n");
	sctp_change(&f, LOCAL, REMOTE, SCTP_STATE_CLOSED, SCTP_STATE_COOKIE_WAIT);
	assert_string_equal(words(&f), "closed -> cookie-wait\n");
	change(&f, REMOTE, LOCAL, TCP_STATE_NONE, TCP_STATE_ESTABLISHED);
	assert_string_equal(words(&f), "                                     <unknown> -> established\n");
	segment(&f, LOCAL, REMOTE, ACK, NUMBERS(1, 2, 0, 0), 0);
	assert_string_equal(words(&f), "ACK, ack 1, window 0            -->\n");
	segment(&f, LOCAL, REMOTE, RST, NUMBERS(1, 0, 0, 0), 0);
	assert_string_equal(words(&f), "RST 1                           -->\n");
	segment(&f, LOCAL, REMOTE, 0, NUMBERS(1, 0, 8, 0), 0);
	assert_string_equal(words(&f), "no flags                        -->\n");
	segment(&f, LOCAL, REMOTE, PSH | ACK, NUMBERS(1, 2, 8, 10), RETRANSMIT_TIMEOUT);
	assert_string_equal(words(&f), "");
	assert_int_equal(f.history.again, RETRANSMIT_TIMEOUT);
	segment(&f, LOCAL, REMOTE, PSH | ACK, NUMBERS(1, 2, 8, 10), 0);
	assert_string_equal(words(&f), "PSH|ACK 1:11, ack 1, again: timeout  -->\n");
	assert_int_equal(f.history.again, 0);
}

/* Numbers of a connection that is captured from the middle, and that wrap. */
static void
test_numbers(void **state)
{
	struct fixture f;

	(void)state;
	begin_words(&f);
	segment(&f, REMOTE, LOCAL, ACK, NUMBERS(500, 4294967290, 5, 0), 0);
	assert_string_equal(words(&f), "                                <--  ACK, ack 1\n");
	segment(&f, LOCAL, REMOTE, PSH | ACK, NUMBERS(4294967290, 500, 5, 16), 0);
	assert_string_equal(words(&f), "PSH|ACK 1:17, ack 1             -->\n");
	segment(&f, LOCAL, REMOTE, FIN | ACK, NUMBERS(10, 600, 5, 0), 0);
	assert_string_equal(words(&f), "FIN|ACK 17, ack 101             -->\n");
	segment(&f, REMOTE, LOCAL, SYN, NUMBERS(9, 0, 5, 4), 0);
	assert_string_equal(words(&f), "                                <--  SYN 1:5\n");
}

/* Both ends of an association of SCTP often have the same port. */
static void
test_equal_ports(void **state)
{
	static const struct history_ends ends = {{"10.0.0.1", "10.0.0.2"}, {36412, 36412}};
	struct fixture f;

	(void)state;
	begin_with(&f, &ends, sizeof text);
	now = MIDNIGHT;
	chunks(&f, "10.0.0.1", 36412, "10.0.0.2", 36412, 1, 1);
	mark = f.ladder.used;
	chunks(&f, "10.0.0.1", 36412, "10.9.0.2", 36412, 0, 1);
	assert_string_equal(words(&f), "DATA                            -->\n");
	chunks(&f, "10.9.0.1", 36412, "10.0.0.2", 36412, 0, 1);
	assert_string_equal(words(&f), "DATA                            -->\n");
	chunks(&f, "10.9.0.2", 36412, "10.0.0.1", 36412, 3, 1);
	assert_string_equal(words(&f), "                                <--  SACK\n");
	chunks(&f, "10.0.0.2", 36412, "10.9.0.1", 36412, 3, 1);
	assert_string_equal(words(&f), "                                <--  SACK\n");
}

/* A frame of a tunnel is a packet of each connection inside, with other ends. */
static void
test_tunnel(void **state)
{
	struct fixture f;

	(void)state;
	begin_words(&f);
	datagram(&f, "192.0.2.1", 50000, "192.0.2.2", 4789, 100);
	datagram(&f, "192.0.2.1", 1000, REMOTE, 100);
	change(&f, "192.0.2.1", 1000, REMOTE, TCP_STATE_CLOSED, TCP_STATE_SYN_SENT);
	segment(&f, "192.0.2.1", 1000, REMOTE, SYN, NUMBERS(1, 2, 8, 10), RETRANSMIT_TIMEOUT);
	assert_int_equal(f.history.again, 0);
	chunks(&f, "10.0.0.9", 1001, REMOTE, 1, 1);
	assert_string_equal(words(&f), "");
	datagram(&f, REMOTE, LOCAL, 100);
	assert_string_equal(words(&f), "                                <--  100 bytes\n");
}

/* Firings without the arguments that a row needs, of a header that is cut off for example, and other probes. */
static void
test_other_firings(void **state)
{
	static const void *const nothing[6];
	struct ipinfo ip = ip_between("10.0.0.1", "2001:db8::1");
	struct tcpinfo cut = {.tcp_sport = 1000, .tcp_dport = 80};
	const void *args[6] = {[2] = &ip, [4] = &cut};
	struct fixture f;

	(void)state;
	begin(&f, sizeof text);
	for (unsigned probe = 0; probe < PROBE_COUNT; probe++)
		fire(&f, (enum probe_id)probe, nothing);
	fire(&f, PROBE_TCP_SEND, args);
	fire(&f, PROBE_TCP_RETRANSMIT, args);
	assert_string_equal(text, "");
	assert_int_equal(f.ladder.used, 0);
}

static void
test_ends(void **state)
{
	const char *address[2] = {"10.0.0.1", "::1"}, *port[2] = {"0", "65535"};
	struct history_ends ends;

	(void)state;
	assert_true(history_ends_parse(&ends, address, port));
	assert_string_equal(ends.address[1], "::1");
	assert_int_equal(ends.port[1], 65535);
	for (const char *const *bad = (const char *const[]){"", "-", "65536", "1x", "+1", NULL}; *bad != NULL; bad++) {
		port[0] = *bad;
		assert_false(history_ends_parse(&ends, address, port));
	}
}

static void
test_full(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 300);
	now = MIDNIGHT;
	for (uint16_t i = 0; i < 1000; i++) {
		datagram(&f, LOCAL, REMOTE, i);
		assert_int_equal(f.ladder.used, strlen(text));
		assert_true(f.ladder.used < 300);
	}
	assert_true(f.ladder.cut);
	assert_memory_equal(text, "     SECONDS  10.0.0.1:1000", strlen("     SECONDS  10.0.0.1:1000"));
	assert_non_null(strstr(text, "\n    0.000000  998 bytes"));
	assert_non_null(strstr(text, "\n    0.000000  999 bytes                       -->\n"));
	assert_null(strstr(text, "\n    0.000000  0 bytes"));
}

static void
test_no_room(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 20);
	datagram(&f, LOCAL, REMOTE, 1);
	assert_string_equal(text, "");
}

static void
test_invalid_rows(void **state)
{
	static const struct history_row invalid[] = {
	    {.kind = HISTORY_KINDS},
	    {.kind = UINT32_MAX},
	    {.end = 2},
	    {.flags = 256},
	    {.again = RETRANSMIT_SYN + 1},
	    {.kind = HISTORY_TCP_STATE, .before = TCP_STATE_COUNT},
	    {.kind = HISTORY_TCP_STATE, .after = UINT32_MAX},
	    {.kind = HISTORY_SCTP_STATE, .after = SCTP_STATE_COUNT},
	};
	const struct history_row valid = {.kind = HISTORY_TCP_STATE, .end = 1, .after = TCP_STATE_COUNT - 1};

	(void)state;
	for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
		assert_false(history_row_is_valid(&invalid[i]));
	assert_true(history_row_is_valid(&valid));
}

/* ----------------------------------------------------------------------------------------------------- the process */

struct rows {
	struct history_row row[ROWS_MAX];
	unsigned count;
	char filter; /* of the system calls of the child of this process, as in /proc/PID/status */
};

static char
filter_of_child(void)
{
	char path[64], line[256], filter = '?';
	long child;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	file = fopen(path, "r");
	if (file == NULL || fscanf(file, "%ld", &child) != 1)
		return '?';
	fclose(file);
	snprintf(path, sizeof path, "/proc/%ld/status", child);
	file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		sscanf(line, "Seccomp: %c", &filter);
	if (file != NULL)
		fclose(file);
	return filter;
}

static void
take_row(void *context, const struct history_row *row)
{
	struct rows *rows = context;

	assert_true(rows->count < ROWS_MAX);
	rows->row[rows->count++] = *row;
}

static int
open_capture(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", getenv("top_srcdir"), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static enum history_result
read_file(int fd, const struct history_ends *ends, struct rows *rows)
{
	enum history_result result = history_read_capture(fd, ends, take_row, rows);

	close(fd);
	return result;
}

/* No child is left. */
static void
assert_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
test_process(void **state)
{
	static const struct history_ends ends = {{"192.0.2.10", "192.0.2.80"}, {40002, 80}};
	static struct rows rows;
	unsigned kinds[HISTORY_KINDS] = {0}, of_end[2] = {0}, again = 0;

	(void)state;
	assert_int_equal(read_file(open_capture("tests/captures/questions.pcap"), &ends, &rows), HISTORY_READ);
	assert_no_child();
	for (unsigned i = 0; i < rows.count; i++) {
		kinds[rows.row[i].kind]++;
		of_end[rows.row[i].end]++;
		again += rows.row[i].again != 0;
	}
	assert_true(kinds[HISTORY_SEGMENT] > 10 && kinds[HISTORY_TCP_STATE] > 8);
	assert_int_equal(kinds[HISTORY_SEGMENT] + kinds[HISTORY_TCP_STATE], rows.count);
	assert_true(of_end[0] > 5 && of_end[1] > 5 && again == 1);
	assert_int_equal(rows.row[0].kind, HISTORY_TCP_STATE);
	assert_int_equal(rows.row[0].before, TCP_STATE_CLOSED);
	assert_int_equal(rows.row[0].after, TCP_STATE_SYN_SENT);
	assert_int_equal(rows.row[1].flags, SYN);
}

static void
test_other_connection(void **state)
{
	static struct rows rows;

	(void)state;
	assert_int_equal(read_file(open_capture("tests/captures/questions.pcap"), &usual_ends, &rows), HISTORY_READ);
	assert_int_equal(rows.count, 0);
}

/* A capture that breaks off gives the rows before, and a file that is not a capture gives no rows. */
static void
test_damaged(void **state)
{
	static const struct history_ends ends = {{"192.0.2.10", "192.0.2.80"}, {40001, 80}};
	static struct rows rows;
	char path[] = "/tmp/test_history.XXXXXX", bytes[4000];
	int whole = open_capture("tests/captures/questions.pcap"), cut = mkstemp(path);

	(void)state;
	assert_true(cut >= 0 && read(whole, bytes, sizeof bytes) == (ssize_t)sizeof bytes);
	assert_int_equal(write(cut, bytes, sizeof bytes), sizeof bytes);
	assert_int_equal(lseek(cut, 0, SEEK_SET), 0);
	unlink(path);
	close(whole);
	assert_int_equal(read_file(cut, &ends, &rows), HISTORY_DAMAGED);
	assert_true(rows.count > 4);
	rows.count = 0;
	assert_int_equal(read_file(open_capture("README.md"), &ends, &rows), HISTORY_DAMAGED);
	assert_int_equal(read_file(open_capture("tests"), &ends, &rows), HISTORY_DAMAGED);
	assert_int_equal(rows.count, 0);
	assert_no_child();
}

/* Notes the filter of the process at the first row. */
static void
take_filter(void *context, const struct history_row *row)
{
	struct rows *rows = context;

	(void)row;
	if (rows->count++ == 0)
		rows->filter = filter_of_child();
}

static void
test_confined(void **state)
{
	static const struct history_ends ends = {{"192.0.2.10", "192.0.2.80"}, {40002, 80}};
	static struct rows rows;
	int fd = open_capture("tests/captures/questions.pcap");

	(void)state;
	assert_int_equal(history_read_capture(fd, &ends, take_filter, &rows), HISTORY_READ);
	assert_int_equal(rows.filter, '2');
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ladder),
	    cmocka_unit_test(test_proved_later),	   cmocka_unit_test(test_packets),
	    cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_equal_ports),
	    cmocka_unit_test(test_tunnel),	   cmocka_unit_test(test_other_firings),
	    cmocka_unit_test(test_ends),	   cmocka_unit_test(test_full),
	    cmocka_unit_test(test_no_room),	   cmocka_unit_test(test_invalid_rows),
	    cmocka_unit_test(test_process),	   cmocka_unit_test(test_other_connection),
	    cmocka_unit_test(test_damaged),	   cmocka_unit_test(test_confined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
