/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_findings.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/names.h"

/* The kinds, those that explain others first: findings of equal cost keep this order. */
static const struct {
	const char *kind, *side;
	report_find *find;
} kinds[] = {
    {"capture", "nobody", report_find_capture},
    {"scan", "client", report_find_scan},
    {"flood", "client", report_find_flood},
    {"backlog", "server", report_find_backlog},
    {"no-answer", "network", report_find_no_answer},
    {"rejected", "network", report_find_rejected},
    {"half-open", "network", report_find_half_open},
    {"refused", "server", report_find_refused},
    {"mtu", "network", report_find_mtu},
    {"silent", "network", report_find_silent},
    {"unanswered", "server", report_find_unanswered},
    {"gave-up", "client", report_find_gave_up},
    {"idle-closed", "server", report_find_idle_closed},
    {"reset", "server", report_find_reset},
    {"tls", "client", report_find_tls},
    {"http-5xx", "server", report_find_http_5xx},
    {"http-4xx", "client", report_find_http_4xx},
    {"dns-other-address", "server", report_find_dns_other_address},
    {"dns-mute", "server", report_find_dns_mute},
    {"dns-slow", "server", report_find_dns_slow},
    {"dns-rcode", "client", report_find_dns_rcode},
    {"udp-unreachable", "server", report_find_udp_unreachable},
    {"half-closed-server", "server", report_find_half_closed_server},
    {"half-closed-client", "client", report_find_half_closed_client},
    {"slow-server", "server", report_find_slow_server},
    {"nagle", "client", report_find_held},
    {"small-window", "client", report_find_small_window},
    {"queue", "network", report_find_queue},
    {"reordered", "network", report_find_reordered},
    {"duplicated", "network", report_find_doubled},
    {"lost-acks", "network", report_find_lost_acks},
    {"policer", "network", report_find_policer},
    {"lost-client", "network", report_find_lost_client},
    {"lost-server", "network", report_find_lost_server},
    {"lost-attempts", "network", report_find_lost_attempts},
    {"slow-handshake", "server", report_find_slow_handshake},
    {"slow-reader-client", "client", report_find_slow_reader_client},
    {"slow-reader-server", "server", report_find_slow_reader_server},
    {"slow-sender-server", "server", report_find_slow_sender_server},
    {"slow-sender-client", "client", report_find_slow_sender_client},
    {"distance", "network", report_find_distance},
    {"chatty", "client", report_find_chatty},
};

_Static_assert(sizeof kinds / sizeof kinds[0] <= REPORT_FINDINGS, "there is a place for each kind");

/* ------------------------------------------------------------------------------------------------------------ text */

void
report_write(struct report_finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->text);
	va_list list;

	va_start(list, format);
	vsnprintf(finding->text + used, sizeof(finding->text) - used, format, list);
	va_end(list);
}

void
report_write_time(struct report_finding *finding, uint64_t us)
{
	if (us >= 1000000)
		report_write(finding, "%.2f s", (double)us / 1e6);
	else
		report_write(finding, "%.1f ms", (double)us / 1e3);
}

void
report_write_server(struct report_finding *finding, const struct report_record *record)
{
	const struct report_end *server = &record->ends[REPORT_SERVER];

	report_write(finding, "%s port %u", server->address, server->port);
}

void
report_write_where(struct report_finding *finding, const struct report_gathered *gathered)
{
	report_write_server(finding, gathered->worst);
	if (gathered->services > 1)
		report_write(finding, " and %zu other%s", gathered->services - 1, gathered->services == 2 ? "" : "s");
}

const char *
report_rejection_words(const struct report_rejection *rejection)
{
	return icmp_error_words(rejection->version, rejection->type, rejection->code);
}

void
report_write_sender(struct report_finding *finding, const struct report_rejection *rejection)
{
	char text[INET6_ADDRSTRLEN];

	report_write(finding, "%s",
		     inet_ntop(rejection->version == 6 ? AF_INET6 : AF_INET, rejection->sender, text, sizeof(text)));
}

/* Administratively prohibited, in its forms. */
bool
report_rejection_is_filter(const struct report_rejection *rejection)
{
	if (rejection->version == 4)
		return rejection->type == 3 && (rejection->code == 9 || rejection->code == 10 || rejection->code == 13);
	return rejection->type == 1 && (rejection->code == 1 || rejection->code == 5 || rejection->code == 6);
}

const char *
report_plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

/* -------------------------------------------------------------------------------------------------------- evidence */

void
report_set_packet(struct report_evidence *evidence, uint64_t frame)
{
	evidence->frame = frame;
	evidence->text[0] = '\0';
	if (frame > 0)
		snprintf(evidence->text, sizeof(evidence->text), "packet %" PRIu64, frame);
}

/* Puts a record among the evidence, which is sorted by amount, unless all of it shows more. */
static void
report_gather_record(struct report_finding *finding, size_t record, uint64_t amount, uint64_t *amounts)
{
	size_t place = finding->evidence_count;

	if (place < REPORT_EVIDENCE)
		finding->evidence_count++;
	else if (amount > amounts[place - 1])
		place--;
	else
		return;
	for (; place > 0 && amounts[place - 1] < amount; place--) {
		amounts[place] = amounts[place - 1];
		finding->evidence[place] = finding->evidence[place - 1];
	}
	amounts[place] = amount;
	finding->evidence[place].record = record;
}

struct report_gathered
report_gather(struct report_finding *finding, const struct report_facts *facts, report_measure measure,
	      enum report_event event)
{
	struct report_gathered gathered = {0};
	uint64_t amounts[REPORT_EVIDENCE];
	uint32_t number = ++*facts->gatherings;

	finding->evidence_count = 0;
	for (size_t i = 0; i < facts->count; i++) {
		const struct report_record *record = &facts->list[i];
		uint64_t amount = measure(facts, record);

		if (amount == 0)
			continue;
		gathered.count++;
		gathered.sum += amount;
		if (amount > gathered.max) {
			gathered.max = amount;
			gathered.worst = record;
		}
		gathered.services += facts->last_seen[record->service] != number;
		facts->last_seen[record->service] = number;
		report_gather_record(finding, i, amount, amounts);
	}
	for (size_t e = 0; e < finding->evidence_count; e++)
		report_set_packet(&finding->evidence[e],
				  report_record_event(&facts->list[finding->evidence[e].record], event));
	return gathered;
}

/* -------------------------------------------------------------------------------------------------------- services */

static int
report_service_compare(const void *a, const void *b)
{
	const struct report_record *x = *(const struct report_record *const *)a;
	const struct report_record *y = *(const struct report_record *const *)b;
	const struct report_end *s = &x->ends[REPORT_SERVER], *t = &y->ends[REPORT_SERVER];

	if (s->address != t->address)
		return (uintptr_t)s->address < (uintptr_t)t->address ? -1 : 1;
	if (s->port != t->port)
		return s->port < t->port ? -1 : 1;
	if (x->protocol != y->protocol)
		return x->protocol < y->protocol ? -1 : 1;
	return 0;
}

static void
report_service_add(struct report_service *service, const struct report_record *record)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];

	service->address = server->address;
	service->port = server->port;
	service->connections++;
	service->opened += record->handshake_us >= 0;
	service->exchanges += record->exchanges;
	service->bytes += client->bytes + server->bytes;
	service->slow_answers += record->slow_answers;
	report_note_patience(service, record);
	if (record->server_min_us >= 0 && (uint64_t)record->server_min_us < service->server_min_us)
		service->server_min_us = (uint64_t)record->server_min_us;
	if (record->server_max_us > (int64_t)service->server_max_us)
		service->server_max_us = (uint64_t)record->server_max_us;
	for (unsigned e = 0; e < REPORT_ENDS; e++)
		service->program_us[e] += record->waits.program[e];
}

/* Services to which queries of DNS go. */
static void
report_services_find_dns(struct report_facts *facts)
{
	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *failure = &facts->capture->failures.list[i];

		if (failure->kind != REPORT_DNS_QUERY && failure->kind != REPORT_DNS_ANY)
			continue;
		for (size_t s = 0; s < facts->services_count; s++)
			if (facts->services[s].address == failure->server && facts->services[s].port == failure->port)
				facts->services[s].dns = true;
	}
}

/* Addresses are kept once, so that equal ones are the same pointer. */
static bool
report_services_find(struct report_facts *facts, struct report_record *list)
{
	struct report_record **sorted = calloc(facts->count + 1, sizeof(*sorted));

	facts->services = calloc(facts->count + 1, sizeof(*facts->services));
	facts->roles = calloc(facts->count + 1, sizeof(*facts->roles));
	facts->last_seen = calloc(facts->count + 1, sizeof(*facts->last_seen));
	if (sorted == NULL || facts->services == NULL || facts->roles == NULL || facts->last_seen == NULL) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < facts->count; i++)
		sorted[i] = &list[i];
	qsort(sorted, facts->count, sizeof(*sorted), report_service_compare);
	for (size_t i = 0; i < facts->count; i++) {
		if (i == 0 || report_service_compare(&sorted[i - 1], &sorted[i]) != 0)
			facts->services[facts->services_count++].server_min_us = UINT64_MAX;
		sorted[i]->service = facts->services_count - 1;
		report_service_add(&facts->services[facts->services_count - 1], sorted[i]);
	}
	free(sorted);
	report_services_find_dns(facts);
	report_find_other_addresses(facts, list);
	return true;
}

/* -------------------------------------------------------------------------------------------------------- findings */

/* qsort(): most cost first, then the order of the kinds; harmless ones last. */
static int
report_finding_compare(const void *a, const void *b)
{
	const struct report_finding *x = a, *y = b;

	if (x->harmless != y->harmless)
		return x->harmless ? 1 : -1;
	if (x->cost_us != y->cost_us)
		return x->cost_us > y->cost_us ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The table of services; false if out of memory. */
static bool
report_findings_list_services(struct report_findings *findings, const struct report_capture *capture)
{
	if (capture->services == NULL)
		return true; /* there is no connection */
	findings->services = calloc(SERVICES_MAX + 1, sizeof(*findings->services));
	if (findings->services == NULL)
		return false;
	findings->services_count = services_list(capture->services, 0, findings->services);
	return true;
}

struct report_findings *
report_findings_make(struct report_capture *capture)
{
	struct report_findings *findings = calloc(1, sizeof(*findings));
	uint32_t gatherings = 0;
	struct report_facts facts = {.capture = capture,
				     .gatherings = &gatherings,
				     .list = capture->records.list,
				     .count = capture->records.count};
	bool made = findings != NULL && report_services_find(&facts, capture->records.list) &&
		    report_findings_list_services(findings, capture);

	for (size_t i = 0; made && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		findings->list[i].kind = kinds[i].kind;
		findings->list[i].side = kinds[i].side;
		findings->list[i].order = i;
		kinds[i].find(&findings->list[i], &facts);
	}
	free(facts.roles);
	free(facts.last_seen);
	free(facts.services);
	if (!made) {
		report_findings_free(findings);
		return NULL;
	}
	qsort(findings->list, REPORT_FINDINGS, sizeof(findings->list[0]), report_finding_compare);
	return findings;
}

void
report_findings_free(struct report_findings *findings)
{
	if (findings != NULL)
		free(findings->services);
	free(findings);
}
