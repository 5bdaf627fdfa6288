/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about connections that do not come about. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_findings.h"

/* A client that fails at so many ports of a server, or at so many servers, scans. */
#define SCAN_TARGETS 20u

/* A port gets a flood of SYNs if so many attempts fail, from so many addresses, of which none gets through. */
#define FLOOD_ATTEMPTS 100u
#define FLOOD_CLIENTS  50u

/* Whether an attempt of TCP has failed, or had not succeeded when the capture ended. */
static bool
report_attempt_fails(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP && record->opened && record->handshake_us < 0 &&
	       record->ends[REPORT_SERVER].bytes == 0 &&
	       (record->unanswered || record->half_open || record->rejected || record->reason == REPORT_REFUSED ||
		record->ends[REPORT_SERVER].segments == 0 || !record->accepted);
}

/* ------------------------------------------------------------------------------------------------- scans and floods */

/* Attempts of a client that fail, sorted by client, then server, then port. */
static int
report_compare_targets(const void *a, const void *b)
{
	const struct report_record *x = *(const struct report_record *const *)a;
	const struct report_record *y = *(const struct report_record *const *)b;
	const struct report_end *client = &x->ends[REPORT_CLIENT], *other = &y->ends[REPORT_CLIENT];

	if (client->address != other->address)
		return (uintptr_t)client->address < (uintptr_t)other->address ? -1 : 1;
	return x->service < y->service ? -1 : x->service > y->service;
}

/* A row of attempts of one client. */
struct report_scan {
	const struct report_record *first;
	uint64_t attempts, targets, answered; /* answered: refused */
};

/* Marks the attempts of each client that tries many targets, and returns the largest scan. */
static struct report_scan
report_mark_scans(const struct report_facts *facts, const struct report_record **sorted, size_t count,
		  uint64_t *scanners)
{
	struct report_scan largest = {0};

	for (size_t begin = 0, end; begin < count; begin = end) {
		struct report_scan scan = {.first = sorted[begin]};

		for (end = begin; end < count && sorted[end]->ends[REPORT_CLIENT].address ==
						     sorted[begin]->ends[REPORT_CLIENT].address;
		     end++) {
			scan.targets += end == begin || sorted[end]->service != sorted[end - 1]->service;
			scan.attempts++;
			scan.answered += sorted[end]->reason == REPORT_REFUSED;
		}
		if (scan.targets < SCAN_TARGETS)
			continue;
		++*scanners;
		for (size_t i = begin; i < end; i++)
			facts->roles[sorted[i] - facts->list] = REPORT_ROLE_SCAN;
		if (scan.targets > largest.targets)
			largest = scan;
	}
	return largest;
}

static uint64_t
report_is_scan(const struct report_facts *facts, const struct report_record *record)
{
	return facts->roles[record - facts->list] == REPORT_ROLE_SCAN;
}

void
report_find_scan(struct report_finding *finding, const struct report_facts *facts)
{
	const struct report_record **sorted = calloc(facts->count + 1, sizeof(*sorted));
	struct report_scan scan;
	uint64_t scanners = 0;
	size_t count = 0;

	if (sorted == NULL)
		return;
	for (size_t i = 0; i < facts->count; i++)
		if (report_attempt_fails(&facts->list[i]))
			sorted[count++] = &facts->list[i];
	qsort(sorted, count, sizeof(*sorted), report_compare_targets);
	scan = report_mark_scans(facts, sorted, count, &scanners);
	free(sorted);
	if (scan.targets == 0)
		return;
	finding->count = scan.attempts;
	finding->cost_us = scan.attempts * REPORT_FAILURE_US;
	report_gather(finding, facts, report_is_scan, REPORT_EVENTS);
	report_write(finding, "%s scans: it tried %" PRIu64 " ports%s%s, and %s",
		     scan.first->ends[REPORT_CLIENT].address, scan.targets,
		     scan.targets == scan.attempts ? "" : " again and again", " that do not take connections",
		     scan.answered == 0		      ? "none answered"
		     : scan.answered == scan.attempts ? "each refused"
						      : "some refused");
	if (scanners > 1)
		report_write(finding, "; %" PRIu64 " other addresses scan, too", scanners - 1);
	report_write(finding, ".");
}

/* Whether an attempt may be part of a flood: its client does not answer, or no answer reaches it. */
static bool
report_may_be_flood(const struct report_facts *facts, const struct report_record *record)
{
	return report_attempt_fails(record) && record->reason != REPORT_REFUSED && !report_is_scan(facts, record) &&
	       (record->ends[REPORT_CLIENT].flags & (REPORT_FLAG_ACK | REPORT_FLAG_RST)) == 0;
}

void
report_find_flood(struct report_finding *finding, const struct report_facts *facts)
{
	uint64_t *attempts = calloc(facts->services_count + 1, sizeof(*attempts)), most = 0;
	uint64_t *clients = calloc(facts->services_count + 1, sizeof(*clients));
	const char **last = calloc(facts->services_count + 1, sizeof(*last));
	size_t target = 0;

	for (size_t i = 0; attempts != NULL && clients != NULL && last != NULL && i < facts->count; i++) {
		const struct report_record *record = &facts->list[i];

		if (!report_may_be_flood(facts, record))
			continue;
		attempts[record->service]++;
		clients[record->service] += last[record->service] != record->ends[REPORT_CLIENT].address;
		last[record->service] = record->ends[REPORT_CLIENT].address;
		if (attempts[record->service] > most && clients[record->service] >= FLOOD_CLIENTS) {
			most = attempts[record->service];
			target = record->service;
		}
	}
	if (most >= FLOOD_ATTEMPTS) {
		for (size_t i = 0; i < facts->count; i++)
			if (facts->list[i].service == target && report_may_be_flood(facts, &facts->list[i]))
				facts->roles[i] = REPORT_ROLE_FLOOD;
		finding->count = most;
		finding->cost_us = most * REPORT_FAILURE_US;
		report_write(finding,
			     "SYN flood: %" PRIu64 " attempts to connect to %s port %u, from %" PRIu64
			     " addresses that do not go on, probably forged.",
			     most, facts->services[target].address, facts->services[target].port, clients[target]);
	}
	free(attempts);
	free(clients);
	free(last);
}

/* ------------------------------------------------------------------------------------------------ without an answer */

static bool
report_is_explained(const struct report_facts *facts, const struct report_record *record)
{
	return facts->roles[record - facts->list] != REPORT_ROLE_NONE;
}

/* The server of the port has taken other connections: it is there, and nothing drops what goes to it. */
static bool
report_port_is_open(const struct report_facts *facts, const struct report_record *record)
{
	return report_service_of(facts, record)->opened > 0;
}

static uint64_t
report_is_backlog(const struct report_facts *facts, const struct report_record *record)
{
	if (report_is_explained(facts, record) || record->rejected)
		return 0;
	return (record->half_open && record->untaken) || (record->unanswered && report_port_is_open(facts, record));
}

void
report_find_backlog(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_backlog, REPORT_RESENT);

	if (found.count == 0)
		return;
	finding->count = found.count;
	if (found.services == 1)
		finding->of = report_service_of(facts, found.worst)->connections;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "The accept queue of ");
	report_write_where(finding, &found);
	report_write(finding, " is full: %" PRIu64, found.count);
	if (finding->of != 0)
		report_write(finding, " of %" PRIu64, finding->of);
	report_write(finding,
		     " connections were not taken%s; its program does not accept them fast enough, or its backlog is "
		     "too small.",
		     report_service_of(facts, found.worst)->opened > 0 ? ", though others were" : "");
}

static uint64_t
report_is_unanswered(const struct report_facts *facts, const struct report_record *record)
{
	return record->unanswered && !record->rejected && !report_is_explained(facts, record) &&
	       !report_is_backlog(facts, record);
}

/* Whether the address of the server sends anything in the capture. */
static bool
report_server_is_there(const struct report_facts *facts, const struct report_record *record)
{
	const char *address = record->ends[REPORT_SERVER].address;

	for (size_t i = 0; i < facts->count; i++)
		for (unsigned e = 0; e < REPORT_ENDS; e++)
			if (facts->list[i].ends[e].address == address && facts->list[i].ends[e].segments > 0)
				return true;
	return false;
}

void
report_find_no_answer(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_unanswered, REPORT_RESENT);

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "No answer: %" PRIu64 " attempt%s to connect to ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " %s never answered; %s.", found.count == 1 ? "was" : "were",
		     report_server_is_there(facts, found.worst)
			 ? "the host answers elsewhere, so a firewall on the way drops them"
			 : "the host is away, or a firewall drops them");
}

static uint64_t
report_is_half_open(const struct report_facts *facts, const struct report_record *record)
{
	return record->half_open && !record->untaken && !report_is_explained(facts, record);
}

void
report_find_half_open(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_half_open, REPORT_EVENTS);

	if (found.count == 0)
		return;
	for (size_t e = 0; e < finding->evidence_count; e++)
		report_set_packet(&finding->evidence[e], facts->list[finding->evidence[e].record].syn_ack_packet);
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "%" PRIu64 " attempt%s to connect to ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " got a SYN,ACK that the client never acknowledged: it does not reach the client.");
}

static uint64_t
report_is_rejected(const struct report_facts *facts, const struct report_record *record)
{
	return record->rejected && !report_is_explained(facts, record);
}

void
report_find_rejected(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_rejected, REPORT_UNREACHABLE);

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "%" PRIu64 " attempt%s to connect to ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " %s rejected with an ICMP error: \"%s\", sent by ", found.count == 1 ? "was" : "were",
		     report_rejection_words(&found.worst->rejection));
	report_write_sender(finding, &found.worst->rejection);
	report_write(finding, "%s.",
		     report_rejection_is_filter(&found.worst->rejection)
			 ? ", a firewall or router that does not let them pass"
			 : "");
}

static uint64_t
report_is_refused(const struct report_facts *facts, const struct report_record *record)
{
	return record->reason == REPORT_REFUSED && !report_is_explained(facts, record);
}

/* A RST whose distance is not that of other packets from the server is that of a firewall. */
static bool
report_rst_is_foreign(const struct report_facts *facts, const struct report_record *record)
{
	const struct report_end *server = &record->ends[REPORT_SERVER];

	for (size_t i = 0; server->events.rst_ttl != 0 && i < facts->count; i++) {
		const struct report_end *other = &facts->list[i].ends[REPORT_SERVER];

		if (other->address == server->address && other->events.ttl != 0)
			return other->events.ttl != server->events.rst_ttl;
	}
	return false;
}

void
report_find_refused(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_refused, REPORT_RESET);

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->of = report_service_of(facts, found.worst)->connections;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "Refused: %" PRIu64 " attempt%s to connect to ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " got a RST; ");
	if (report_rst_is_foreign(facts, found.worst)) {
		finding->side = "network";
		report_write(finding,
			     "it has another TTL than the server's packets, so a firewall on the way rejects them.");
	} else {
		report_write(finding, "nothing listens there%s.",
			     report_port_is_open(facts, found.worst) ? " at that moment, though it did at other times"
								     : "");
	}
}

/* ------------------------------------------------------------------------------------------------------ handshakes */

/* Whether the handshake waited longest for a segment that was lost. */
static bool
report_handshake_was_lost(const struct report_record *record)
{
	return record->resent_syn > 0 && (record->delay == REPORT_LOST_SYN || record->delay == REPORT_LOST_SYN_ACK ||
					  record->syn_ack_packet == 0);
}

/* The links go to what ended the longest wait. */
static void
report_link_delays(struct report_finding *finding, const struct report_facts *facts)
{
	for (size_t e = 0; e < finding->evidence_count; e++) {
		const struct report_record *record = &facts->list[finding->evidence[e].record];

		if (record->delay_packet != 0)
			report_set_packet(&finding->evidence[e], record->delay_packet);
	}
}

static uint64_t
report_measure_lost_attempt(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->protocol == IPPROTO_TCP && record->handshake_us >= REPORT_SLOW_HANDSHAKE_US &&
		       report_handshake_was_lost(record)
		   ? (uint64_t)record->handshake_us
		   : 0;
}

void
report_find_lost_attempts(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_lost_attempt, REPORT_OPENED);
	uint64_t syn_ack = 0;

	if (found.count == 0)
		return;
	for (size_t i = 0; i < facts->count; i++)
		syn_ack += report_measure_lost_attempt(facts, &facts->list[i]) != 0 &&
			   facts->list[i].delay == REPORT_LOST_SYN_ACK;
	report_link_delays(finding, facts);
	finding->count = found.count;
	finding->of = report_service_of(facts, found.worst)->connections;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "Handshakes were lost: %" PRIu64 " connection%s to ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " came about only after the ");
	if (syn_ack == 0)
		report_write(finding, "SYN");
	else if (syn_ack == found.count)
		report_write(finding, "SYN,ACK");
	else
		report_write(finding, "SYN (%" PRIu64 ") or the SYN,ACK (%" PRIu64 ")", found.count - syn_ack, syn_ack);
	report_write(finding, " was sent again, and waited ");
	report_write_time(finding, found.sum);
	report_write(finding, "; the loss is on the way to the %s, or the accept queue of the server was full.",
		     2 * syn_ack <= found.count ? "server" : "client");
}

/* A handshake that is slow although nothing of it was lost, and the distance is short. */
static uint64_t
report_measure_slow_handshake(const struct report_facts *facts, const struct report_record *record)
{
	int64_t rtt = record->rtt_us[REPORT_CLIENT] + record->rtt_us[REPORT_SERVER];

	(void)facts;
	return record->protocol == IPPROTO_TCP && record->handshake_us >= REPORT_SLOW_HANDSHAKE_US &&
		       !report_handshake_was_lost(record) && !report_loses_acks(record, REPORT_CLIENT) &&
		       2 * rtt <= record->handshake_us
		   ? (uint64_t)record->handshake_us
		   : 0;
}

void
report_find_slow_handshake(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_slow_handshake, REPORT_OPENED);
	bool client;

	if (found.count == 0)
		return;
	report_link_delays(finding, facts);
	client = found.worst->delay == REPORT_LATE_ACK;
	finding->side = client ? "client" : "server";
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "Slow handshakes: on %" PRIu64 " connection%s to ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	if (found.worst->delay == REPORT_OLD_ANSWER)
		report_write(finding,
			     " the server answered for an older connection of the same ports, and the SYN was sent "
			     "again, at most after ");
	else
		report_write(finding, " the %s came late, at most after ",
			     client ? "ACK of the client" : "SYN,ACK of the server");
	report_write_time(finding, found.max);
	report_write(finding, "%s.",
		     found.worst->delay == REPORT_OLD_ANSWER ? "" : ", though round trips are shorter later");
}
