/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about failures that protocols tell: status codes, alerts, queries without answer. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_findings.h"

/* Fewer answers that say that something does not exist are not a fault. */
#define MISSING_MIN 3u

#define DNS_PORT 53u

/* The failures of a kind, and the most frequent one. */
struct report_told {
	uint64_t count, max_us, sum_us;
	const struct report_failure *most; /* NULL: there is none */
	uint64_t groups;		   /* how many servers and names */
};

/* How many there were of a kind at the server of a failure, and of its group if the kind has groups. */
static uint64_t
report_total(const struct report_facts *facts, enum report_failure_kind kind, const struct report_failure *failure)
{
	bool grouped = kind == REPORT_HTTP_HOST || kind == REPORT_DNS_NAME;
	uint64_t count = 0;

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *other = &facts->capture->failures.list[i];

		if (other->kind == kind && other->server == failure->server && other->port == failure->port &&
		    (!grouped || other->group == failure->group))
			count += other->count;
	}
	return count;
}

/* All failures of a kind for which `counts` is true; NULL: all. */
static struct report_told
report_sum_failures(const struct report_facts *facts, enum report_failure_kind kind,
		    bool (*counts)(const struct report_facts *facts, const struct report_failure *failure))
{
	const struct report_failures *failures = &facts->capture->failures;
	struct report_told told = {0};

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *failure = &failures->list[i];

		if (failure->kind != kind || (counts != NULL && !counts(facts, failure)))
			continue;
		told.count += failure->count;
		told.sum_us += failure->sum_us;
		told.groups++;
		if (failure->max_us > told.max_us)
			told.max_us = failure->max_us;
		if (told.most == NULL || failure->count > told.most->count)
			told.most = failure;
	}
	return told;
}

/* The connections of the failure become the evidence, with its packets. */
static void
report_link_failure(struct report_finding *finding, const struct report_facts *facts,
		    const struct report_failure *failure)
{
	for (size_t i = 0; i < facts->count && finding->evidence_count < failure->examples_count; i++) {
		const struct report_record *record = &facts->list[i];

		for (size_t e = 0; e < failure->examples_count; e++) {
			if (record->ends[REPORT_SERVER].cid != failure->examples[e].cid)
				continue;
			finding->evidence[finding->evidence_count].record = i;
			report_set_packet(&finding->evidence[finding->evidence_count++], failure->examples[e].packet);
			break;
		}
	}
}

static void
report_set_told(struct report_finding *finding, const struct report_facts *facts, const struct report_told *told,
		uint64_t each_us)
{
	finding->count = told->count;
	finding->cost_us = told->count * each_us + told->sum_us;
	finding->waited_us = told->sum_us;
	report_link_failure(finding, facts, told->most);
}

void
report_find_tls(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_TLS_ALERT, NULL);
	const struct report_failure *most = told.most;
	bool client;

	if (most == NULL)
		return;
	client = most->by_client;
	report_set_told(finding, facts, &told, REPORT_FAILURE_US);
	finding->side = client ? "client" : "server";
	report_write(finding,
		     "TLS handshakes fail: the %s ended %" PRIu64 " connection%s with %s port %u by the alert %s%s%s",
		     client ? "client" : "server", told.count, report_plural(told.count), most->server, most->port,
		     most->text, most->name[0] != '\0' ? ", for " : "", most->name);
	report_write(finding, "%s.",
		     most->certificate ? client ? "; the client does not accept the certificate of the server"
						: "; the server does not accept the certificate of the client"
				       : "");
}

static void
report_write_http(struct report_finding *finding, const struct report_facts *facts, const struct report_told *told,
		  uint64_t each_us)
{
	const struct report_failure *most = told->most;
	bool host = told->groups == 1 && most->group[0] != '\0';

	report_set_told(finding, facts, told, each_us);
	finding->of = report_total(facts, host ? REPORT_HTTP_HOST : REPORT_HTTP_ANY, most);
	report_write(finding,
		     "HTTP %s: %" PRIu64 " of %" PRIu64 " answers of %s port %u%s%s were errors, for example for %s.",
		     most->text, told->count, finding->of, most->server, most->port, host ? " for " : "",
		     host ? most->group : "", most->name);
}

void
report_find_http_5xx(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_HTTP_5XX, NULL);

	if (told.most != NULL)
		report_write_http(finding, facts, &told, REPORT_FAILURE_US);
}

/* A missing page among many is how the web is. */
static bool
report_is_many_4xx(const struct report_facts *facts, const struct report_failure *failure)
{
	return failure->count >= MISSING_MIN && 2 * failure->count >= report_total(facts, REPORT_HTTP_HOST, failure);
}

void
report_find_http_4xx(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_HTTP_4XX, report_is_many_4xx);

	if (told.most != NULL)
		report_write_http(finding, facts, &told, REPORT_FAILURE_US / 2);
}

void
report_find_dns_slow(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_DNS_SLOW, NULL);

	if (told.most == NULL)
		return;
	report_set_told(finding, facts, &told, 0);
	finding->of = report_total(facts, REPORT_DNS_ANY, told.most);
	report_write(finding,
		     "DNS is slow: %" PRIu64 " of %" PRIu64
		     " answers of the DNS server %s port %u took 0.5 s or more, at most ",
		     told.count, finding->of, told.most->server, told.most->port);
	report_write_time(finding, told.max_us);
	report_write(finding, "; the first was for %s.", told.most->name);
}

/* Whether a name never has another answer. */
static bool
report_is_always(const struct report_facts *facts, const struct report_failure *failure)
{
	return failure->count >= MISSING_MIN && failure->count == report_total(facts, REPORT_DNS_NAME, failure);
}

/* Names that do not exist are a fault if most answers say so, or all for a name that is asked for again and again. */
void
report_find_dns_rcode(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_DNS_RCODE, NULL);
	bool name;

	if (told.most == NULL)
		return;
	finding->of = report_total(facts, REPORT_DNS_ANY, told.most);
	if (told.count < MISSING_MIN || 2 * told.count < finding->of)
		told = report_sum_failures(facts, REPORT_DNS_RCODE, report_is_always);
	if (told.most == NULL)
		return;
	name = told.groups == 1;
	if (name)
		finding->of = report_total(facts, REPORT_DNS_NAME, told.most);
	report_set_told(finding, facts, &told, REPORT_FAILURE_US / 2);
	if (told.most->code != 3)
		finding->side = "server";
	report_write(finding, "DNS %s: %" PRIu64 " of %" PRIu64 " answers of the DNS server %s %s %s%s.",
		     told.most->text, told.count, finding->of, told.most->server,
		     name ? "for" : "say so, for example for", told.most->name,
		     name		    ? told.most->code == 3 ? " say that this name does not exist" : " say so"
		     : told.most->code == 3 ? "; these names do not exist"
					    : "");
}

/* ----------------------------------------------------------------------------------------- DNS from another address */

/* Datagrams that come to a port of a client. */
struct report_arrival {
	const struct report_end *to, *from;
};

/* Senders of datagrams to one port that are looked at. */
#define SENDERS_TRIED 16u

static int
report_arrival_compare(const void *a, const void *b)
{
	const struct report_end *x = ((const struct report_arrival *)a)->to,
				*y = ((const struct report_arrival *)b)->to;

	if (x->address != y->address)
		return (uintptr_t)x->address < (uintptr_t)y->address ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* The first of the arrivals that is not before a port. */
static size_t
report_first_arrival(const struct report_arrival *arrivals, size_t count, const struct report_arrival *key)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (report_arrival_compare(&arrivals[middle], key) < 0)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* Whether the address stands for several hosts: multicast or, in IPv4, broadcast.  They answer from their own. */
static bool
report_is_group(const char *address)
{
	return strchr(address, ':') != NULL ? strncmp(address, "ff", 2) == 0 : strtoul(address, NULL, 10) >= 224;
}

static bool
report_is_open_query(const struct report_facts *facts, const struct report_record *record)
{
	return record->protocol == IPPROTO_UDP && record->ends[REPORT_SERVER].segments == 0 &&
	       report_service_of(facts, record)->dns && !report_is_group(record->ends[REPORT_SERVER].address);
}

/* Datagrams that come to the port of a client from the same port of another address answer its queries. */
void
report_find_other_addresses(const struct report_facts *facts, struct report_record *list)
{
	struct report_arrival *arrivals = calloc(2 * facts->count + 1, sizeof(*arrivals));
	size_t count = 0;

	for (size_t i = 0; arrivals != NULL && i < facts->count; i++)
		for (unsigned e = 0; list[i].protocol == IPPROTO_UDP && e < REPORT_ENDS; e++)
			if (list[i].ends[1 - e].segments != 0)
				arrivals[count++] = (struct report_arrival){&list[i].ends[e], &list[i].ends[1 - e]};
	if (count > 0)
		qsort(arrivals, count, sizeof(*arrivals), report_arrival_compare);
	for (size_t i = 0; count > 0 && i < facts->count; i++) {
		struct report_arrival key = {.to = &list[i].ends[REPORT_CLIENT]};
		const struct report_end *server = &list[i].ends[REPORT_SERVER];

		if (!report_is_open_query(facts, &list[i]))
			continue;
		for (size_t at = report_first_arrival(arrivals, count, &key), end = at + SENDERS_TRIED;
		     at < count && at < end && report_arrival_compare(&arrivals[at], &key) == 0; at++)
			if (arrivals[at].from->port == server->port && arrivals[at].from->address != server->address)
				list[i].answered_by = arrivals[at].from->address;
	}
	free(arrivals);
}

static uint64_t
report_measure_other_address(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->answered_by != NULL;
}

void
report_find_dns_other_address(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_other_address, REPORT_EVENTS);

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->cost_us = 2 * found.count * REPORT_FAILURE_US;
	report_write(finding, "DNS answers come from another address: %" PRIu64 " quer%s to ", found.count,
		     found.count == 1 ? "y" : "ies");
	report_write_where(finding, &found);
	report_write(
	    finding,
	    " %s answered by %s, and clients do not take such answers; the DNS server has several addresses, and "
	    "answers from another one than was asked.",
	    found.count == 1 ? "was" : "were", found.worst->answered_by);
}

/* The name that was asked for without an answer most often, NULL if each had some; how many queries were for names that
 * have no answer at all, without those for which one query was sent. */
static const char *
report_mute_name(const struct report_facts *facts, uint64_t *queries)
{
	const char *name = NULL;
	uint64_t most = 0;

	*queries = 0;

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *asked = &facts->capture->failures.list[i];
		uint64_t answered;

		if (asked->kind != REPORT_DNS_QUERY)
			continue;
		answered = report_total(facts, REPORT_DNS_NAME, asked);
		if (answered == 0 && asked->count > 1)
			*queries += asked->count;
		if (asked->count > answered + most) {
			most = asked->count - answered;
			name = asked->group;
		}
	}
	return name;
}

/* Queries that an ICMP error rejects, which has a finding of its own. */
static uint64_t
report_rejected_queries(const struct report_facts *facts)
{
	uint64_t count = 0;

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *failure = &facts->capture->failures.list[i];

		count += failure->kind == REPORT_UDP_UNREACHABLE && failure->port == DNS_PORT ? failure->count : 0;
	}
	return count;
}

/* Whether the capture has one direction only, as connections of TCP show. */
static bool
report_lacks_answers(const struct report_facts *facts)
{
	size_t tcp = 0, one_way = 0;

	for (size_t i = 0; i < facts->count; i++) {
		tcp += facts->list[i].protocol == IPPROTO_TCP && !facts->list[i].unanswered;
		one_way += report_is_one_way(facts, &facts->list[i]) != 0;
	}
	return 2 * one_way > tcp;
}

void
report_find_dns_mute(struct report_finding *finding, const struct report_facts *facts)
{
	const struct report_unanswered *dns = &facts->capture->dns;
	struct report_told asked = report_sum_failures(facts, REPORT_DNS_QUERY, NULL);
	struct report_told answered = report_sum_failures(facts, REPORT_DNS_ANY, NULL);
	uint64_t cid = dns->first[0].cid, count = dns->count, elsewhere = 0, rejected = report_rejected_queries(facts),
		 mute;
	const char *name = report_mute_name(facts, &mute);

	for (size_t i = 0; count != 0 && i < facts->count; i++)
		elsewhere += facts->list[i].answered_by != NULL;
	if (count <= elsewhere || count <= rejected)
		return;
	count -= rejected;
	/* A server that answers nothing at all, or nothing for a name, does not answer the last queries, either. */
	if (answered.count == 0 && asked.count > count)
		count = asked.count;
	if (mute > count)
		count = mute;
	finding->count = count;
	finding->cost_us = count * REPORT_FAILURE_US;
	finding->harmless = report_lacks_answers(facts);
	for (size_t i = 0; i < facts->count && finding->evidence_count < REPORT_EVIDENCE; i++) {
		for (size_t q = 0; q < REPORT_EVIDENCE && q < dns->count; q++) {
			if (facts->list[i].ends[REPORT_SERVER].cid != dns->first[q].cid)
				continue;
			finding->evidence[finding->evidence_count].record = i;
			report_set_packet(&finding->evidence[finding->evidence_count++], dns->first[q].packet);
			break;
		}
	}
	report_write(finding, "DNS does not answer: %" PRIu64 " DNS quer%s never answered", count,
		     count == 1 ? "y was" : "ies were");
	for (size_t i = 0; i < facts->count; i++)
		if (facts->list[i].ends[REPORT_SERVER].cid == cid) {
			report_write(finding, " by ");
			report_write_server(finding, &facts->list[i]);
			break;
		}
	if (name != NULL)
		report_write(finding, ", for example for %s", name);
	report_write(finding, "%s.",
		     finding->harmless ? ", perhaps because the capture has one direction only, as of TCP" : "");
}

/* Whether an ICMP error is about a datagram to a service, and not about one to the port of a client that has asked
 * one. */
static bool
report_is_of_query(const struct report_facts *facts, const struct report_failure *failure)
{
	for (size_t i = 0; i < facts->count; i++) {
		const struct report_end *client = &facts->list[i].ends[REPORT_CLIENT];

		if (facts->list[i].protocol == IPPROTO_UDP && client->address == failure->server &&
		    client->port == failure->port && facts->list[i].answered_by != NULL)
			return false;
	}
	return true;
}

void
report_find_udp_unreachable(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_UDP_UNREACHABLE, report_is_of_query);

	if (told.most == NULL)
		return;
	report_set_told(finding, facts, &told, REPORT_FAILURE_US / 2);
	report_write(finding, "Unreachable: %" PRIu64 " UDP datagram%s to %s port %u got an ICMP error, \"%s\"%s.",
		     told.count, report_plural(told.count), told.most->server, told.most->port, told.most->text,
		     told.most->closed ? ": nothing listens there" : "");
}
