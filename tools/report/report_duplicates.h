/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that are in a capture twice: a mirror port copies both directions, or two interfaces have captured them.
 *
 * A duplicate has the addresses, the length, the identification and the fragment offset of a packet a few milliseconds
 * before.  Without an identification, as in IPv6, it has the ports, numbers and checksum of TCP or UDP instead; this is
 * examined for the first packets only, and not for segments without data, which a receiver repeats itself.
 */
#ifndef NETOBS_REPORT_DUPLICATES_H
#define NETOBS_REPORT_DUPLICATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_lines.h"

/* Slots of the table of the latest packets. */
#define REPORT_LATEST 32768u

/* Packets without an identification are compared up to this packet id.  Without the UDP checksum, or with one that an
 * interface has not filled in yet, datagrams are not: it is all that shows their content. */
#define REPORT_PLAIN "pkt_addr <= 50000"

/* The formulas of packets without an identification. */
#define REPORT_PLAIN_SEGMENT "report-plain-segment = tcp-receive where " REPORT_PLAIN " && tcp_payload > 0"
#define REPORT_PLAIN_DATAGRAM \
	"report-plain-datagram = udp-receive where " REPORT_PLAIN " && udp_checksum != 0 && pkt_csum == \"ok\""

struct report_latest {
	uint64_t hash, time;
	unsigned copies; /* duplicates; above the limit: the sender repeats its identifications */
};

struct report_duplicates {
	uint64_t packets;    /* packets that were compared */
	uint64_t copies;     /* of these, duplicates */
	uint64_t identified; /* packet id of the latest packet with an identification */
	struct report_latest latest[REPORT_LATEST];
};

/* Compares a packet with an identification.  `line`: of ip-receive, read up to its time, `packet`: its id.  Returns the
 * number of its protocol. */
unsigned report_duplicates_ip(struct report_duplicates *duplicates, struct report_line *line, uint64_t packet,
			      uint64_t time);

/* Compares a packet without an identification.  `line`: of the formula. */
void report_duplicates_segment(struct report_duplicates *duplicates, struct report_line *line);
void report_duplicates_datagram(struct report_duplicates *duplicates, struct report_line *line);

#endif
