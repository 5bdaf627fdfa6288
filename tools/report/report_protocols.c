/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about failures that protocols tell: status codes, alerts, queries without answer. */
#include <inttypes.h>
#include <netinet/in.h>

#include "tools/report/report_findings.h"

/* From this share of answers on, in percent, names that do not exist are a fault of who asks for them. */
#define RCODE_PERCENT 50u
#define RCODE_MIN     3u

#define DNS_PORT 53u

/* The failures of a kind, and the most frequent one. */
struct report_told {
	uint64_t count, of, max_us, sum_us;
	const struct report_failure *most; /* NULL: there is none */
	size_t services;
};

static struct report_told
report_sum_failures(const struct report_facts *facts, enum report_failure_kind kind)
{
	const struct report_failures *failures = &facts->capture->failures;
	struct report_told told = {0};

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *failure = &failures->list[i];

		if (failure->kind != kind)
			continue;
		told.count += failure->count;
		told.sum_us += failure->sum_us;
		told.services++;
		if (failure->max_us > told.max_us)
			told.max_us = failure->max_us;
		if (told.most == NULL || failure->count > told.most->count)
			told.most = failure;
	}
	return told;
}

/* How many there were of a kind at the server of a failure. */
static uint64_t
report_total(const struct report_facts *facts, enum report_failure_kind kind, const struct report_failure *failure)
{
	uint64_t count = 0;

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *other = &facts->capture->failures.list[i];

		if (other->kind == kind && other->server == failure->server && other->port == failure->port)
			count += other->count;
	}
	return count;
}

/* The connections of the failure become the evidence, with its packets. */
static void
report_link_failure(struct report_finding *finding, const struct report_facts *facts, const struct report_failure *failure)
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
	struct report_told told = report_sum_failures(facts, REPORT_TLS_ALERT);
	const struct report_failure *most = told.most;
	bool client;

	if (most == NULL)
		return;
	client = most->by_client;
	report_set_told(finding, facts, &told, REPORT_FAILURE_US);
	finding->side = client ? "client" : "server";
	report_write(finding, "TLS handshakes fail: the %s ended %" PRIu64 " connection%s with %s port %u by the alert %s%s%s",
		     client ? "client" : "server", told.count, report_plural(told.count), most->server, most->port,
		     most->text, most->name[0] != '\0' ? ", for " : "", most->name);
	report_write(finding, "%s.", most->certificate ? client ? "; the client does not accept the certificate of the server" :
							  "; the server does not accept the certificate of the client" : "");
}

static void
report_write_http(struct report_finding *finding, const struct report_facts *facts, enum report_failure_kind kind,
		  uint64_t each_us)
{
	struct report_told told = report_sum_failures(facts, kind);
	const struct report_failure *most = told.most;

	if (most == NULL)
		return;
	report_set_told(finding, facts, &told, each_us);
	finding->of = report_total(facts, REPORT_HTTP_ANY, most);
	report_write(finding, "HTTP %s: %" PRIu64 " of %" PRIu64 " answers of %s port %u were errors, for example for %s.",
		     most->text, told.count, finding->of, most->server, most->port, most->name);
}

void
report_find_http_5xx(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_http(finding, facts, REPORT_HTTP_5XX, REPORT_FAILURE_US);
}

/* A missing page among many is how the web is. */
void
report_find_http_4xx(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_HTTP_4XX);

	if (told.count < 3 || 2 * told.count < report_total(facts, REPORT_HTTP_ANY, told.most))
		return;
	report_write_http(finding, facts, REPORT_HTTP_4XX, REPORT_FAILURE_US / 2);
}

void
report_find_dns_slow(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_DNS_SLOW);

	if (told.most == NULL)
		return;
	report_set_told(finding, facts, &told, 0);
	finding->of = report_total(facts, REPORT_DNS_ANY, told.most);
	report_write(finding, "DNS is slow: %" PRIu64 " of %" PRIu64 " answers of the DNS server %s port %u took 0.5 s or more, at most ",
		     told.count, finding->of, told.most->server, told.most->port);
	report_write_time(finding, told.max_us);
	report_write(finding, "; the first was for %s.", told.most->name);
}

void
report_find_dns_rcode(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_DNS_RCODE);

	if (told.most == NULL)
		return;
	finding->of = report_total(facts, REPORT_DNS_ANY, told.most);
	if (told.count < RCODE_MIN || 100 * told.count < RCODE_PERCENT * finding->of)
		return;
	report_set_told(finding, facts, &told, REPORT_FAILURE_US / 2);
	report_write(finding, "DNS %s: %" PRIu64 " of %" PRIu64 " answers of the DNS server %s say so, for example for %s%s.",
		     told.most->text, told.count, finding->of, told.most->server, told.most->name,
		     told.most->code == 3 ? "; these names do not exist" : "");
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
	struct report_told asked = report_sum_failures(facts, REPORT_DNS_QUERY);
	struct report_told answered = report_sum_failures(facts, REPORT_DNS_ANY);
	uint64_t cid = dns->first[0].cid, count = dns->count, rejected = report_rejected_queries(facts);

	if (count <= rejected)
		return;
	count -= rejected;
	/* A server that answers nothing at all does not answer the last queries, either. */
	if (answered.count == 0 && asked.count > count)
		count = asked.count;
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
	report_write(finding, "%s.", finding->harmless ? ", perhaps because the capture has one direction only, as of TCP" : "");
}

void
report_find_udp_unreachable(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_told told = report_sum_failures(facts, REPORT_UDP_UNREACHABLE);

	if (told.most == NULL)
		return;
	report_set_told(finding, facts, &told, REPORT_FAILURE_US / 2);
	report_write(finding, "Unreachable: %" PRIu64 " UDP datagram%s to %s port %u got an ICMP error, \"%s\"%s.", told.count,
		     report_plural(told.count), told.most->server, told.most->port, told.most->text,
		     told.most->closed ? ": nothing listens there" : "");
}
