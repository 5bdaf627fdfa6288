/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames that are known to be expensive, each as a sequence that any host can send, measured untraced and traced.
 * Fails if a frame costs more than LIMIT ns (argument; 0: no limit), on a slow machine more than that times its
 * slowness.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/observer.h"
#include "tests/cost/cost_meter.h"

enum { RUNS = 3 };
enum { CLIENT, SERVER };
enum { SYN = 2, RST = 4, PUSH = 8, ACK = 16 };

/* Loops over 2^n flows; the distances of sequence numbers (cost_distance()). */
#define OVER(n) (1 | (n) << 4)
enum { AHEAD_1 = 5, BEFORE_500 = 13, BEFORE_1000 = 15, RISE = 4 << 4, FALL = 5 << 4 };

struct cost_known {
	const char *name;
	cost_prepare *prepare;
	struct cost_recipe recipe;
};

/* 1,536 connections send 512 segments each, in another order in each round: neighbours of a connection in the send
 * log are far apart. */
static void
prepare_long_log(struct observer *observer, uint64_t *now)
{
	static struct cost_frame frames[COST_FRAMES_MAX];
	static const struct cost_recipe recipe = {
	    1, 0, 1536, {{.kind = COST_TCP, .repeat = 11, .step = OVER(11), .flags = ACK, .length = 7, .port = 3}}};
	unsigned count = cost_frames_make(&recipe, frames);
	uint32_t random = 1;

	for (unsigned round = 0; round < 512; round++)
		for (unsigned i = count; i > 0; i--) {
			struct cost_frame frame;
			unsigned other;
			uint32_t seq;

			random = random * 1664525 + 1013904223;
			other = (random >> 8) % i;
			frame = frames[other];
			frames[other] = frames[i - 1];
			memcpy(&seq, frame.bytes + 38, 4);
			seq = __builtin_bswap32(__builtin_bswap32(seq) + 1448);
			memcpy(frame.bytes + 38, &seq, 4);
			frames[i - 1] = frame;
			*now += 1000;
			observer_set_host_clock(observer, *now, 0);
			cost_observe(observer, frame.bytes, frame.len, *now);
		}
}

/* clang-format off */
static const struct cost_known known[] = {
	{"common", NULL, {2, 1, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 8, .step = OVER(8), .port = 3},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK, .length = 7, .port = 3, .options = 1}}}},
	{"iscsi-login", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 10, .step = OVER(10), .flags = ACK | PUSH, .length = 7,
		 .payload = COST_LOGIN}}}},
	{"iscsi-login-opened", NULL, {2, 1, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 10, .step = OVER(10)},
		{.kind = COST_TCP, .repeat = 10, .step = OVER(10), .flags = ACK | PUSH, .length = 7,
		 .payload = COST_LOGIN}}}},
	{"iscsi-sessions", NULL, {4, 3, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 9, .step = OVER(9)},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK | PUSH, .payload = COST_LOGIN_FIRST,
		 .length = 2},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .sender = SERVER, .flags = ACK | PUSH,
		 .payload = COST_LOGIN_RESPONSE, .length = 2},
		{.kind = COST_TCP, .repeat = 8, .flow = 16, .step = OVER(8), .flags = ACK | PUSH, .length = 7,
		 .payload = COST_LOGIN}}}},
	{"iscsi-candidates", NULL, {3, 2, 0, {
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .flags = ACK, .length = 7, .payload = COST_CANDIDATES},
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .sender = SERVER, .flags = ACK, .length = 7},
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .flags = ACK, .length = 7,
		 .payload = COST_CANDIDATES}}}},
	{"iscsi-noise", NULL, {3, 2, 0, {
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .flags = ACK, .length = 7, .payload = COST_NOISE},
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .sender = SERVER, .flags = ACK, .length = 7},
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .flags = ACK, .length = 7, .payload = COST_NOISE}}}},
	{"iscsi-zeros", NULL, {3, 2, 0, {
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .flags = ACK, .length = 7},
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .sender = SERVER, .flags = ACK, .length = 7},
		{.kind = COST_TCP, .repeat = 6, .step = OVER(6), .flags = ACK, .length = 7}}}},
	{"iscsi-text", NULL, {2, 1, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 8, .step = OVER(8)},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK, .length = 7, .payload = COST_TEXT}}}},
	{"iscsi-commands", NULL, {4, 3, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 8, .step = OVER(8)},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK | PUSH, .payload = COST_LOGIN_FIRST,
		 .length = 2},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .sender = SERVER, .flags = ACK | PUSH,
		 .payload = COST_LOGIN_RESPONSE, .length = 2},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK, .length = 7,
		 .payload = COST_COMMANDS}}}},
	{"stream-queue", NULL, {4, 1, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 0},
		{.kind = COST_TCP, .repeat = 0, .flags = ACK | PUSH, .payload = COST_LOGIN_FIRST, .length = 2},
		{.kind = COST_TCP, .repeat = 7, .flags = ACK, .length = 7, .seq = AHEAD_1 | RISE},
		{.kind = COST_TCP, .repeat = 7, .flags = ACK, .length = 7}}}},
	{"stream-queue-falling", NULL, {4, 1, 0, {
		{.kind = COST_HANDSHAKE, .repeat = 4, .step = OVER(4)},
		{.kind = COST_TCP, .repeat = 4, .step = OVER(4), .flags = ACK | PUSH, .payload = COST_LOGIN_FIRST,
		 .length = 2},
		{.kind = COST_TCP, .repeat = 10, .step = OVER(4), .flags = ACK, .length = 1, .seq = 10 | FALL},
		{.kind = COST_TCP, .repeat = 7, .step = OVER(4), .flags = ACK, .length = 7}}}},
	{"log-oldest", NULL, {3, 2, 0, {
		{.kind = COST_HANDSHAKE, .port = 3},
		{.kind = COST_TCP, .repeat = 9, .flags = ACK, .length = 7, .port = 3},
		{.kind = COST_TCP, .repeat = 9, .flags = ACK, .length = 7, .seq = BEFORE_500 | RISE, .port = 3}}}},
	{"log-same", NULL, {3, 2, 0, {
		{.kind = COST_HANDSHAKE, .port = 3},
		{.kind = COST_TCP, .repeat = 9, .flags = ACK, .length = 7, .port = 3},
		{.kind = COST_TCP, .repeat = 9, .flags = ACK, .length = 1, .seq = BEFORE_500, .port = 3}}}},
	{"log-sack", NULL, {5, 3, 0, {
		{.kind = COST_HANDSHAKE, .port = 3},
		{.kind = COST_TCP, .repeat = 10, .flags = ACK, .length = 7, .port = 3},
		{.kind = COST_TCP, .repeat = 9, .flags = ACK, .length = 7, .seq = BEFORE_1000, .port = 3, .time = 6},
		{.kind = COST_TCP, .repeat = 0, .flags = ACK, .length = 7, .seq = BEFORE_1000, .port = 3, .time = 7},
		{.kind = COST_TCP, .repeat = 6, .sender = SERVER, .flags = ACK, .options = 4 << 1 | 4 << 4,
		 .ack = BEFORE_1000, .port = 3}}}},
	{"log-ack", NULL, {5, 3, 0, {
		{.kind = COST_HANDSHAKE, .port = 3},
		{.kind = COST_TCP, .repeat = 10, .flags = ACK, .length = 7, .port = 3},
		{.kind = COST_TCP, .repeat = 9, .flags = ACK, .length = 7, .seq = BEFORE_1000, .port = 3},
		{.kind = COST_TCP, .repeat = 0, .flags = ACK, .length = 7, .seq = BEFORE_1000, .port = 3, .time = 7},
		{.kind = COST_TCP, .repeat = 8, .sender = SERVER, .flags = ACK, .ack = BEFORE_1000 | RISE, .port = 3,
		 .options = 4 << 1 | 4 << 4}}}},
	{"log-far", prepare_long_log, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 11, .step = OVER(11), .flags = ACK, .length = 7, .port = 3}}}},
	{"log-far-sack", prepare_long_log, {3, 2, 0, {
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK, .length = 7, .seq = 8, .port = 3,
		 .time = 0},
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK, .length = 7, .seq = 4, .port = 3,
		 .time = 5},
		{.kind = COST_TCP, .repeat = 11, .step = OVER(8), .sender = SERVER, .flags = ACK, .ack = BEFORE_1000,
		 .port = 3,
		 .options = 4 << 1 | 1 << 4}}}},
	{"half-open", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 11, .step = OVER(11), .flags = SYN, .port = 3},}}},
	{"reset", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 11, .step = OVER(11), .flags = SYN, .port = 3},
		{.kind = COST_TCP, .repeat = 11, .step = OVER(11), .flags = RST, .port = 3}}}},
	{"udp-expiry", NULL, {2, 0, 0, {
		{.kind = COST_UDP, .repeat = 11, .step = OVER(11), .length = 1},
		{.kind = COST_UDP, .repeat = 7, .step = OVER(0), .length = 1, .time = 7}}}},
	{"sctp-chunks", NULL, {1, 0, 0, {
		{.kind = COST_SCTP, .repeat = 8, .step = OVER(8), .flags = 4, .length = 7, .ack = 1}}}},
	{"sctp-data", NULL, {1, 0, 0, {
		{.kind = COST_SCTP, .repeat = 8, .step = OVER(8), .flags = 0, .length = 7, .ack = 1}}}},
	{"sctp-addresses", NULL, {1, 0, 0, {
		{.kind = COST_SCTP, .repeat = 8, .step = OVER(8), .flags = 1, .length = 7, .ack = 1}}}},
	{"sctp-same-tag", NULL, {2, 1, 0, {
		{.kind = COST_SCTP, .repeat = 11, .step = OVER(11), .flags = 1, .length = 7, .ack = 2},
		{.kind = COST_SCTP, .repeat = 11, .flow = 128, .step = OVER(11), .flags = 0, .length = 1,
		 .sender = SERVER,
		 .ack = 2}}}},
	{"fragments", NULL, {2, 0, 0, {
		{.kind = COST_FRAGMENT, .repeat = 7, .flags = 1, .length = 1, .ack = 4 << 4},
		{.kind = COST_FRAGMENT, .repeat = 0, .flags = 0, .length = 7, .ack = 10}}}},
	{"fragments-backward", NULL, {1, 0, 0, {
		{.kind = COST_FRAGMENT, .repeat = 9, .flags = 1, .length = 1, .ack = 12 | 5 << 4}}}},
	{"fragments-many", NULL, {1, 0, 0, {
		{.kind = COST_FRAGMENT, .repeat = 11, .flags = 1, .length = 7, .seq = 8, .ack = 4}}}},
	{"fragments-twice", NULL, {3, 2, 0, {
		{.kind = COST_FRAGMENT, .repeat = 11, .step = OVER(11), .flags = 1, .length = 2, .ack = 0},
		{.kind = COST_FRAGMENT, .repeat = 10, .step = OVER(10), .flags = 1, .length = 3, .ack = 0},
		{.kind = COST_FRAGMENT, .repeat = 11, .flags = 1, .length = 7, .seq = 8, .ack = 4}}}},
	{"vlan", NULL, {1, 0, 0, {{.kind = COST_TCP, .repeat = 8, .wrap = COST_VLAN, .flags = ACK, .length = 7,
	 .port = 3}}}},
	{"extensions", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 8, .wrap = COST_EXTENSIONS, .flags = ACK, .length = 4, .port = 3}}}},
	{"gre", NULL, {1, 0, 0, {{.kind = COST_TCP, .repeat = 8, .wrap = COST_GRE, .flags = ACK, .length = 7,
	 .port = 3}}}},
	{"ip-in-ip", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 8, .wrap = COST_IP_IN_IP, .flags = ACK, .length = 7, .port = 3}}}},
	{"vxlan", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .wrap = COST_VXLAN, .flags = ACK, .length = 7,
		 .port = 3}}}},
	{"ip-options", NULL, {1, 0, 0, {
		{.kind = COST_TCP, .repeat = 8, .wrap = COST_IP_OPTIONS, .flags = ACK, .length = 7, .port = 3}}}},
	{"icmp-error", NULL, {2, 1, 0, {
		{.kind = COST_TCP, .repeat = 8, .step = OVER(8), .flags = ACK, .port = 3},
		{.kind = COST_ICMP_ERROR, .repeat = 8, .step = OVER(8), .port = 3}}}},
	{"dccp", NULL, {1, 0, 0, {{.kind = COST_DCCP, .repeat = 8, .step = OVER(8), .length = 7}}}},
};
/* clang-format on */

static struct cost_result
measure(struct cost_meter *meter, const struct cost_known *k, double limit)
{
	static struct cost_frame frames[COST_FRAMES_MAX];
	unsigned count = cost_frames_make(&k->recipe, frames);

	return cost_meter_confirm(meter, frames, count, k->prepare != NULL ? 1 : RUNS, k->prepare, limit);
}

int
main(int argc, char **argv)
{
	double slowness = cost_meter_slowness(), limit = argc > 1 ? atof(argv[1]) * slowness : 0;
	const char *only = argc > 2 ? argv[2] : NULL;
	bool failed = false, any = false;

	printf("slowness of the machine: %.2f\n", slowness);
	printf("ns: a frame (mean of %u), largest of one frame; untraced, traced\n", (unsigned)COST_WINDOW);
	for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (only != NULL && strcmp(only, known[i].name) != 0)
			continue;
		any = true;
		printf("%-22s", known[i].name);
		for (unsigned traced = 0; traced < 2; traced++) {
			struct cost_meter *meter = cost_meter_new(traced != 0);
			struct cost_result result = measure(meter, &known[i], limit);

			printf(" %9.0f %9.0f %s", result.worst_ns, result.single_ns, traced != 0 ? "\n" : "");
			failed |= limit > 0 && result.worst_ns > limit;
			cost_meter_free(meter);
		}
		fflush(stdout);
	}
	return failed || !any;
}
