/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_failures.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "probes/names.h"
#include "probes/netobs.h"
#include "tools/report/report_records.h"

/* Bytes of a text that are kept. */
#define KEPT_BYTES 40u

struct report_failure_key {
	enum report_failure_kind kind;
	uint32_t code;
	const char *server; /* kept */
	uint16_t port;
	const char *group; /* kept; NULL: none */
};

/* Places that are looked at. */
#define PLACES_TRIED 64u

/* The place of a kind, code, server and group; NULL if the table is full there. */
static struct report_failure *
report_failure_place(struct report_failures *failures, const struct report_failure_key *key)
{
	size_t slot = ((uintptr_t)key->server + 7 * (uintptr_t)key->group) / 8 + key->port * 31u + key->code * 131u +
		      (unsigned)key->kind * 1031u;

	for (size_t i = 0; i < PLACES_TRIED; i++) {
		struct report_failure *at = &failures->list[(slot + i) & (REPORT_FAILURES - 1)];

		if (at->kind == REPORT_NO_FAILURE) {
			*at = (struct report_failure){.kind = key->kind,
						      .code = key->code,
						      .server = key->server,
						      .port = key->port,
						      .group = key->group,
						      .text = "",
						      .name = ""};
			return at;
		}
		if (at->kind == key->kind && at->code == key->code && at->server == key->server &&
		    at->port == key->port && at->group == key->group)
			return at;
	}
	failures->dropped++;
	return NULL;
}

/* The beginning of a text, kept; "" if out of memory. */
static const char *
report_keep_beginning(struct report_texts *texts, const char *text)
{
	char bytes[KEPT_BYTES + 1];
	size_t length = strlen(text);
	const char *kept;

	length = length < KEPT_BYTES ? length : KEPT_BYTES;
	memcpy(bytes, text, length);
	bytes[length] = '\0';
	kept = report_texts_keep(texts, bytes);
	return kept != NULL ? kept : "";
}

/* Counts a failure of the connection `of`, of a group unless that is NULL; NULL if there is no place. */
static struct report_failure *
report_failure_count(struct report_failures *failures, struct report_texts *texts, const struct conninfo *of,
		     enum report_failure_kind kind, uint32_t code, const char *group)
{
	struct report_failure_key key = {.kind = kind,
					 .code = code,
					 .server = report_texts_keep(texts, of->ci_local),
					 .port = of->ci_lport,
					 .group = group != NULL ? report_keep_beginning(texts, group) : NULL};
	struct report_failure *failure = key.server != NULL ? report_failure_place(failures, &key) : NULL;

	if (failure != NULL)
		failure->count++;
	return failure;
}

static void
report_failure_add_example(struct report_failure *failure, uint64_t cid, uint64_t packet)
{
	size_t last = failure->examples_count;

	if (last == REPORT_EXAMPLES || (last > 0 && failure->examples[last - 1].cid == cid))
		return;
	failure->examples[last].cid = cid;
	failure->examples[last].packet = packet;
	failure->examples_count++;
}

/* A path without its query; `path` has KEPT_BYTES + 1 bytes. */
static const char *
report_path(char *path, const char *uri)
{
	size_t length = strcspn(uri, "?");

	length = length < KEPT_BYTES ? length : KEPT_BYTES;
	memcpy(path, uri, length);
	path[length] = '\0';
	return path;
}

static void
report_failures_take_http(struct report_failures *failures, struct report_texts *texts, struct firing *firing,
			  uint64_t packet)
{
	const struct conninfo *of = firing_argument(firing, 0);
	const struct httpinfo *rq = firing_argument(firing, 1);
	struct report_failure *failure;
	char text[12], path[KEPT_BYTES + 1];

	if (rq->rq_status == 0)
		return;
	report_failure_count(failures, texts, of, REPORT_HTTP_ANY, 0, NULL);
	report_failure_count(failures, texts, of, REPORT_HTTP_HOST, 0, rq->rq_host);
	if (rq->rq_first_byte_us >= REPORT_SLOW_ANSWER_US)
		report_failure_count(failures, texts, of, REPORT_HTTP_SLOW, 0, report_path(path, rq->rq_uri));
	if (rq->rq_status < 400)
		return;
	failure = report_failure_count(failures, texts, of, rq->rq_status < 500 ? REPORT_HTTP_4XX : REPORT_HTTP_5XX,
				       rq->rq_status, rq->rq_host);
	if (failure == NULL)
		return;
	report_failure_add_example(failure, of->ci_cid, packet);
	if (failure->count > 1)
		return;
	snprintf(text, sizeof text, "%u", rq->rq_status);
	failure->text = report_keep_beginning(texts, text);
	failure->name = report_keep_beginning(texts, rq->rq_uri);
}

static void
report_failures_take_dns(struct report_failures *failures, struct report_texts *texts, struct firing *firing,
			 uint64_t packet)
{
	const struct conninfo *of = firing_argument(firing, 0);
	const struct dnsinfo *dns = firing_argument(firing, 1);
	bool query = firing->probe == PROBE_DNS_QUERY, slow = dns->dns_latency_us >= REPORT_SLOW_ANSWER_US;
	struct report_failure *failure;

	if (query && dns->dns_tries > 1)
		return;
	report_failure_count(failures, texts, of, query ? REPORT_DNS_QUERY : REPORT_DNS_ANY, 0,
			     query ? dns->dns_qname : NULL);
	if (query)
		return;
	report_failure_count(failures, texts, of, REPORT_DNS_NAME, 0, dns->dns_qname);
	for (unsigned i = 0; i < 2; i++) {
		if (i == 0 ? !slow : dns->dns_rcode == 0)
			continue;
		failure = report_failure_count(failures, texts, of, i == 0 ? REPORT_DNS_SLOW : REPORT_DNS_RCODE,
					       i == 0 ? 0 : dns->dns_rcode, dns->dns_qname);
		if (failure == NULL)
			continue;
		if (i == 0) {
			failure->sum_us += (uint64_t)dns->dns_latency_us;
			if ((uint64_t)dns->dns_latency_us > failure->max_us)
				failure->max_us = (uint64_t)dns->dns_latency_us;
		}
		report_failure_add_example(failure, of->ci_cid, packet);
		if (failure->count > 1)
			continue;
		failure->text = report_keep_beginning(texts, dns->dns_rcodestr);
		failure->name = report_keep_beginning(texts, dns->dns_qname);
	}
}

/* Alerts 41 to 46, 48 and 113 to 116 (RFC 8446 section 6.2). */
static bool
report_is_certificate_alert(int32_t number)
{
	return (number >= 41 && number <= 46) || number == 48 || (number >= 113 && number <= 116);
}

static void
report_failures_take_tls(struct report_failures *failures, struct report_texts *texts, struct firing *firing,
			 uint64_t packet)
{
	const struct conninfo *of = firing_argument(firing, 0);
	const struct tlsinfo *tls = firing_argument(firing, 1);
	struct report_failure *failure;

	if (tls->tls_alert_description == 0) /* close_notify */
		return;
	failure =
	    report_failure_count(failures, texts, of, REPORT_TLS_ALERT, (uint32_t)tls->tls_alert_description, NULL);
	if (failure == NULL)
		return;
	report_failure_add_example(failure, of->ci_cid, packet);
	failure->by_client = tls->tls_from[0] == 'c';
	failure->certificate = report_is_certificate_alert(tls->tls_alert_description);
	if (failure->count > 1)
		return;
	failure->text =
	    report_keep_beginning(texts, tls->tls_alertstr[0] != '\0' ? tls->tls_alertstr : "that is encrypted");
	failure->name = report_keep_beginning(texts, tls->tls_sni);
}

/* An ICMP error about a datagram of UDP. */
static void
report_failures_take_icmp(struct report_failures *failures, struct report_texts *texts, struct firing *firing,
			  uint64_t packet)
{
	const struct icmpinfo *icmp = firing_argument(firing, 4);
	struct report_failure_key key = {.kind = REPORT_UDP_UNREACHABLE};
	struct report_failure *failure;

	if (icmp == NULL || icmp->icmp_error_protocol != IPPROTO_UDP)
		return;
	key.code = (uint32_t)icmp->icmp_type << 8 | icmp->icmp_code;
	key.server = report_texts_keep(texts, icmp->icmp_error_daddr);
	key.port = icmp->icmp_error_dport;
	failure = key.server != NULL ? report_failure_place(failures, &key) : NULL;
	if (failure == NULL)
		return;
	failure->count++;
	failure->closed = icmp->icmp_version == 4 ? key.code == (3u << 8 | 3u) : key.code == (1u << 8 | 4u);
	if (firing->flow != NULL)
		report_failure_add_example(failure, firing_cid(firing), packet);
	if (failure->count == 1)
		failure->text = report_keep_beginning(
		    texts, icmp_error_words(icmp->icmp_version, icmp->icmp_type, icmp->icmp_code));
}

void
report_failures_take(struct report_failures *failures, struct report_texts *texts, struct firing *firing,
		     uint64_t packet)
{
	switch (firing->probe) {
	case PROBE_HTTP_REQUEST_DONE:
		report_failures_take_http(failures, texts, firing, packet);
		break;
	case PROBE_DNS_QUERY:
	case PROBE_DNS_RESPONSE:
		report_failures_take_dns(failures, texts, firing, packet);
		break;
	case PROBE_TLS_ALERT:
		report_failures_take_tls(failures, texts, firing, packet);
		break;
	case PROBE_ICMP_RECEIVE:
		report_failures_take_icmp(failures, texts, firing, packet);
		break;
	default:
		break;
	}
}
