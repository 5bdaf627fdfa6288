/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/history/history.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "config/options.h"
#include "confine/confine_replay.h"
#include "confine/privileges.h"
#include "flow/endpoint.h"
#include "observe/observer.h"
#include "observe/workers.h"
#include "probes/fire.h"
#include "probes/firing.h"
#include "probes/netobs.h"
#include "probes/probe_ids.h"
#include "probes/site/semaphores.h"

/* The probes whose firings are rows, or say what a row is. */
static const enum probe_id history_probes[] = {PROBE_TCP_SEND,		PROBE_UDP_SEND,
					       PROBE_SCTP_SEND,		PROBE_TCP_STATE_CHANGE,
					       PROBE_SCTP_STATE_CHANGE, PROBE_TCP_RETRANSMIT};

bool
history_ends_parse(struct history_ends *ends, const char *const address[2], const char *const port[2])
{
	for (unsigned i = 0; i < 2; i++) {
		char *end;
		unsigned long number = strtoul(port[i], &end, 10);

		if (*port[i] < '0' || *port[i] > '9' || *end != '\0' || number > UINT16_MAX)
			return false;
		snprintf(ends->address[i], sizeof ends->address[i], "%s", address[i]);
		ends->port[i] = (uint16_t)number;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------------------- the ends */

/* Sender and receiver of a packet, or the end whose state changes and its peer. */
struct history_pair {
	const char *address[2];
	uint16_t port[2];
};

static bool
history_is(const struct history *history, unsigned end, const struct history_pair *pair, unsigned side)
{
	return pair->port[side] == history->ends.port[end] &&
	       strcmp(pair->address[side], history->ends.address[end]) == 0;
}

/* Whether the first one of a pair can be `end`, and the second one its peer.  An association of SCTP has further
 * addresses, with the same ports. */
static bool
history_can_be(const struct history *history, unsigned end, const struct history_pair *pair, bool any_address)
{
	if (any_address)
		return pair->port[0] == history->ends.port[end] && pair->port[1] == history->ends.port[1 - end];
	return history_is(history, end, pair, 0) && history_is(history, 1 - end, pair, 1);
}

/* Sets the end that is the first one of the pair: two ends with one port are told apart by their addresses.  False if
 * they are those of another connection. */
static bool
history_find_end(const struct history *history, const struct history_pair *pair, bool any_address, uint32_t *end)
{
	bool local = history_can_be(history, 0, pair, any_address);

	*end = !(local && !history_is(history, 1, pair, 0) && !history_is(history, 0, pair, 1));
	return local || history_can_be(history, 1, pair, any_address);
}

static struct history_pair
history_pair_of_packet(const struct ipinfo *ip, uint16_t sport, uint16_t dport)
{
	return (struct history_pair){{ip->ip_saddr, ip->ip_daddr}, {sport, dport}};
}

/* -------------------------------------------------------------------------------------------------------- the rows */

/* The number relative to the first byte of an end.  If that is not known, this number is 1. */
static uint32_t
history_relative(struct history *history, unsigned end, uint32_t number)
{
	if (!history->has_origin[end]) {
		history->origin[end] = number - 1;
		history->has_origin[end] = true;
	}
	return number - history->origin[end];
}

static bool
history_fill_segment(struct history *history, struct firing *firing, struct history_row *row)
{
	const struct ipinfo *ip = firing_argument(firing, 2);
	const struct tcpinfo *tcp = firing_argument(firing, 4);
	uint32_t number;
	struct history_pair pair;

	if (ip == NULL || tcp == NULL || tcp->tcp_offset == 0)
		return false;
	pair = history_pair_of_packet(ip, tcp->tcp_sport, tcp->tcp_dport);
	if (!history_find_end(history, &pair, false, &row->end))
		return false;
	number = tcp->tcp_seq;
	if ((tcp->tcp_flags & NETOBS_TH_SYN) != 0) {
		history->origin[row->end] = number++;
		history->has_origin[row->end] = true;
	}
	row->kind = HISTORY_SEGMENT;
	row->flags = tcp->tcp_flags;
	row->seq = history_relative(history, row->end, number);
	if ((tcp->tcp_flags & NETOBS_TH_ACK) != 0)
		row->ack = history_relative(history, 1 - row->end, tcp->tcp_ack);
	row->window = tcp->tcp_window;
	row->length = tcp->tcp_payload;
	row->again = history->again;
	history->again = 0;
	return true;
}

static bool
history_fill_datagram(const struct history *history, struct firing *firing, struct history_row *row)
{
	const struct ipinfo *ip = firing_argument(firing, 2);
	const struct udpinfo *udp = firing_argument(firing, 3);
	struct history_pair pair;

	if (ip == NULL || udp == NULL)
		return false;
	pair = history_pair_of_packet(ip, udp->udp_sport, udp->udp_dport);
	row->kind = HISTORY_DATAGRAM;
	row->length = udp->udp_length;
	return history_find_end(history, &pair, false, &row->end);
}

static bool
history_fill_chunks(const struct history *history, struct firing *firing, struct history_row *row)
{
	const struct ipinfo *ip = firing_argument(firing, 2);
	const struct sctpinfo *sctp = firing_argument(firing, 4);
	struct history_pair pair;

	if (ip == NULL || sctp == NULL)
		return false;
	pair = history_pair_of_packet(ip, sctp->sctp_sport, sctp->sctp_dport);
	row->kind = HISTORY_CHUNKS;
	row->chunk = sctp->sctp_chunk_type;
	row->chunks = sctp->sctp_chunk_count;
	return history_find_end(history, &pair, true, &row->end);
}

static bool
history_fill_tcp_state(const struct history *history, struct firing *firing, struct history_row *row)
{
	const struct tcpnsinfo *after = firing_argument(firing, 3);
	const struct tcplsinfo *before = firing_argument(firing, 5);
	struct history_pair pair;

	if (after == NULL || before == NULL)
		return false;
	pair = (struct history_pair){{after->tcps_laddr, after->tcps_raddr}, {after->tcps_lport, after->tcps_rport}};
	row->kind = HISTORY_TCP_STATE;
	row->before = (uint32_t)before->tcps_state;
	row->after = (uint32_t)after->tcps_state;
	return history_find_end(history, &pair, false, &row->end);
}

static bool
history_fill_sctp_state(const struct history *history, struct firing *firing, struct history_row *row)
{
	const struct sctpsinfo *after = firing_argument(firing, 3);
	const struct sctplsinfo *before = firing_argument(firing, 5);
	struct history_pair pair;

	if (after == NULL || before == NULL)
		return false;
	pair = (struct history_pair){{after->sctps_laddr, after->sctps_raddr},
				     {after->sctps_lport, after->sctps_rport}};
	row->kind = HISTORY_SCTP_STATE;
	row->before = (uint32_t)before->sctps_state;
	row->after = (uint32_t)after->sctps_state;
	return history_find_end(history, &pair, true, &row->end);
}

/* The segment follows as a firing of tcp-send. */
static void
history_note_retransmission(struct history *history, struct firing *firing)
{
	const struct ipinfo *ip = firing_argument(firing, 2);
	const struct tcpinfo *tcp = firing_argument(firing, 4);
	const struct tcprinfo *tcpr = firing_argument(firing, 5);
	struct history_pair pair;
	uint32_t end;

	if (ip == NULL || tcp == NULL || tcp->tcp_offset == 0 || tcpr == NULL)
		return;
	pair = history_pair_of_packet(ip, tcp->tcp_sport, tcp->tcp_dport);
	if (history_find_end(history, &pair, false, &end))
		history->again = tcpr->tcpr_kind;
}

static bool
history_fill(struct history *history, struct firing *firing, struct history_row *row)
{
	switch (firing->probe) {
	case PROBE_TCP_SEND:
		return history_fill_segment(history, firing, row);
	case PROBE_UDP_SEND:
		return history_fill_datagram(history, firing, row);
	case PROBE_SCTP_SEND:
		return history_fill_chunks(history, firing, row);
	case PROBE_TCP_STATE_CHANGE:
		return history_fill_tcp_state(history, firing, row);
	case PROBE_SCTP_STATE_CHANGE:
		return history_fill_sctp_state(history, firing, row);
	case PROBE_TCP_RETRANSMIT:
		history_note_retransmission(history, firing);
		return false;
	default:
		return false;
	}
}

void
history_fire(struct history *history, struct firing *firing)
{
	struct history_row row = {0};
	bool change;
	const struct pktinfo *pkt;
	const struct csinfo *cs;

	if (!history_fill(history, firing, &row))
		return;
	change = row.kind == HISTORY_TCP_STATE || row.kind == HISTORY_SCTP_STATE;
	pkt = change ? NULL : firing_argument(firing, 0);
	cs = change ? firing_argument(firing, 1) : NULL;
	row.time = pkt != NULL ? pkt->pkt_ts : cs != NULL ? cs->cs_ts : firing->ts;
	history->take(history->context, &row);
}

bool
history_row_is_valid(const struct history_row *row)
{
	uint32_t states = row->kind == HISTORY_TCP_STATE ? TCP_STATE_COUNT : SCTP_STATE_COUNT;

	return row->kind < HISTORY_KINDS && row->end < 2 && row->flags <= UINT8_MAX && row->again <= RETRANSMIT_SYN &&
	       row->before < states && row->after < states;
}

/* ---------------------------------------------------------------------------------------------------- the listener */

static void
history_on_firing(void *context, struct firing *firing)
{
	history_fire(context, firing);
}

static void
history_on_poll(void *context)
{
	(void)context;
}

/* Makes `history` the listener of an observer: history_fire() receives the firings.  Borrowed. */
static void
history_listen(struct history *history, struct observer *observer)
{
	static const struct emitter_listener listener = {.fire = history_on_firing, .poll = history_on_poll};

	for (size_t i = 0; i < sizeof history_probes / sizeof history_probes[0]; i++)
		semaphores_add_formula(history_probes[i]);
	observer_set_listener(observer, &listener, history);
}

/* ------------------------------------------------------------------------------------------------------- the child */

/* The process that parses the packets: they are from the network, and may be made to exploit a parser. */

_Static_assert(sizeof(struct history_row) == 8 + 12 * 4, "a row has no padding");

/* Connections in tunnels are observed, too: more of them at once evict each other. */
#define HISTORY_FLOWS 65536u

/* Rows that are written at once. */
#define HISTORY_BATCH 64u

/* The last row: its `end` is an enum history_result. */
#define HISTORY_END HISTORY_KINDS

/* The capture of the child is standard input, its rows go to standard output. */
struct history_child {
	struct history history;
	struct history_row rows[HISTORY_BATCH];
	size_t count;
};

/* A parent that has closed the pipe ends this process by a signal. */
static void
history_flush(struct history_child *child)
{
	const char *at = (const char *)child->rows;
	size_t left = child->count * sizeof child->rows[0];

	while (left > 0) {
		ssize_t written = write(STDOUT_FILENO, at, left);

		if (written < 0 && errno != EINTR)
			_exit(1);
		at += written > 0 ? written : 0;
		left -= written > 0 ? (size_t)written : 0;
	}
	child->count = 0;
}

static void
history_write_row(void *context, const struct history_row *row)
{
	struct history_child *child = context;

	child->rows[child->count++] = *row;
	if (child->count == HISTORY_BATCH)
		history_flush(child);
}

/* Nothing is inherited but the capture and the pipe.  Messages and the progress of a replay go nowhere: the terminal is
 * that of the parent's screen. */
static bool
history_take_descriptors(int capture, int pipe, const struct config *config)
{
	int nowhere;

	capture = fcntl(capture, F_DUPFD, STDERR_FILENO + 1);
	pipe = fcntl(pipe, F_DUPFD, STDERR_FILENO + 1);
	if (dup2(capture, STDIN_FILENO) < 0 || dup2(pipe, STDOUT_FILENO) < 0)
		return false;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0)
		return false;
	descriptors_close_inherited(config);
	log_mute(true);
	return true;
}

/* Those of the parent would write to its screen. */
static void
history_reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < SIGRTMIN; number++)
		if (number != SIGKILL && number != SIGSTOP)
			signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Requests SIGKILL for the end of the parent.  False if the parent has ended already. */
static bool
history_follow_parent(void *parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == *(const pid_t *)parent;
}

static enum history_result
history_observe(struct history_child *child, struct config *config, pid_t parent)
{
	struct privileges privileges;
	struct workers *workers;
	struct loop *loop = loop_new();

	if (loop == NULL)
		return HISTORY_FAILED;
	if (!privileges_plan(config, &privileges))
		return HISTORY_UNCONFINED;
	workers = workers_open(config, loop, false, 0);
	if (workers == NULL)
		return HISTORY_DAMAGED;
	if (!confine_replay(config, &privileges, history_follow_parent, &parent))
		return HISTORY_UNCONFINED;
	if (!workers_start_inputs(workers) || !workers_make_observers(workers, NULL))
		return HISTORY_DAMAGED;
	history_listen(&child->history, workers->worker[0].observer);
	return workers_run(workers) == INPUT_DONE ? HISTORY_READ : HISTORY_DAMAGED;
}

static _Noreturn void
history_child_main(int capture, int pipe, pid_t parent, const struct history_ends *ends)
{
	static struct history_child child;
	struct history_row last = {.kind = HISTORY_END, .end = HISTORY_FAILED};
	struct config config;

	child.history = (struct history){.ends = *ends, .take = history_write_row, .context = &child};
	history_reset_signals();
	if (config_set_defaults(&config) && options_set(&config, "read", "-") &&
	    history_take_descriptors(capture, pipe, &config)) {
		config.view = VIEW_BOTH;
		config.flow_limits.flows = HISTORY_FLOWS;
		last.end = history_observe(&child, &config, parent);
		history_write_row(&child, &last);
		history_flush(&child);
	}
	_exit(0);
}

/* ------------------------------------------------------------------------------------------------------ the parent */

/* Rows that are in the pipe, at most `size` bytes after the part of one that is read.  False at its end, and if the
 * process takes too long: it may be stopped, or write without end. */
static bool
history_read_rows(int pipe, char *bytes, size_t *used, size_t size, uint64_t deadline)
{
	uint64_t now = clock_monotonic_ns();
	struct pollfd ready = {.fd = pipe, .events = POLLIN};
	ssize_t got;

	if (now >= deadline)
		return false;
	got = poll(&ready, 1, (int)((deadline - now) / 1000000) + 1);
	if (got > 0)
		got = read(pipe, bytes + *used, size - *used);
	else if (got == 0)
		return false;
	*used += got > 0 ? (size_t)got : 0;
	return got > 0 || (got < 0 && errno == EINTR);
}

/* Passes on the rows.  False if the process has come to its end, as `result` says, or what it writes is not valid. */
static bool
history_pass_rows(const struct history_row *rows, size_t count, history_take *take, void *context,
		  enum history_result *result)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind == HISTORY_END)
			*result = rows[i].end < HISTORY_RESULTS ? (enum history_result)rows[i].end : HISTORY_FAILED;
		if (rows[i].kind == HISTORY_END || !history_row_is_valid(&rows[i]))
			return false;
		take(context, &rows[i]);
	}
	return true;
}

static enum history_result
history_receive(int pipe, history_take *take, void *context)
{
	uint64_t deadline = clock_monotonic_ns() + HISTORY_SECONDS * UINT64_C(1000000000);
	enum history_result result = HISTORY_FAILED;
	struct history_row rows[HISTORY_BATCH];
	size_t used = 0, count;

	while (history_read_rows(pipe, (char *)rows, &used, sizeof rows, deadline)) {
		count = used / sizeof rows[0];
		if (!history_pass_rows(rows, count, take, context, &result))
			break;
		used %= sizeof rows[0];
		memmove(rows, rows + count, used);
	}
	return result;
}

enum history_result
history_read_capture(int fd, const struct history_ends *ends, history_take *take, void *context)
{
	enum history_result result = HISTORY_FAILED;
	pid_t parent = getpid(), child;
	int pipe_ends[2];

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return HISTORY_FAILED;
	child = fork();
	if (child == 0)
		history_child_main(fd, pipe_ends[1], parent, ends);
	close(pipe_ends[1]);
	if (child > 0)
		result = history_receive(pipe_ends[0], take, context);
	close(pipe_ends[0]);
	if (child > 0)
		kill(child, SIGKILL); /* it has ended, or what it writes is not valid */
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}
