/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/metrics/service_metrics.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "daemon/query/service_table.h"
#include "host/local_addrs.h"
#include "records/service_lines.h"

/* Bytes of the samples of one service in a family, at most, with those of its head. */
#define SAMPLES_MAX 4096u

/* Bounds of histograms, powers of four: 256 us to 17 s. */
#define FIRST_BOUND_US (UINT64_C(1) << 8)
#define LAST_BOUND_US  (UINT64_C(1) << 24)

/* ---------------------------------------------------------------------------------------------------------- choice */

/* Whether the server is this host. */
static bool
service_is_local(const struct worker *worker, const struct service *service)
{
	uint8_t address[16] = {0};
	uint8_t version = strchr(service->address, ':') != NULL ? 6 : 4;

	return inet_pton(version == 6 ? AF_INET6 : AF_INET, service->address, address) == 1 &&
	       local_addrs_contains(worker->local_addrs, version, address);
}

/* Only services to which a connection came about, or which have answered: a scan adds none. */
static void
service_metrics_choose(struct service_metrics *metrics, const struct worker *worker, bool local)
{
	for (size_t i = 0; i < services_count(metrics->services) && metrics->count < SERVICE_METRICS_MAX; i++) {
		const struct service *service = services_row(metrics->services, i);

		if ((service->opened != 0 || service->exchanges != 0) && service_is_local(worker, service) == local)
			metrics->list[metrics->count++] = service;
	}
}

struct service_metrics *
service_metrics_new(const struct query_context *query)
{
	struct service_metrics *metrics = calloc(1, sizeof *metrics);
	const struct worker *worker = &query->workers->worker[0];

	if (metrics == NULL || (metrics->services = service_table_copy(query->services)) == NULL) {
		free(metrics);
		return NULL;
	}
	fair_lock_acquire(worker->lock);
	service_metrics_choose(metrics, worker, true);
	service_metrics_choose(metrics, worker, false);
	fair_lock_release(worker->lock);
	return metrics;
}

void
service_metrics_free(struct service_metrics *metrics)
{
	if (metrics != NULL)
		services_free(metrics->services);
	free(metrics);
}

/* --------------------------------------------------------------------------------------------------------- samples */

/* "netobs_service_NAME{server="192.0.2.9",port="443",proto="tcp"": nothing of it needs escaping. */
static void
service_add_labels(struct text_buffer *text, const char *name, const struct service *service)
{
	text_add_format(text, "netobs_service_%s{server=\"%s\",port=\"%u\",proto=\"%s\"", name, service->address,
			service->port, service_protocol(service));
}

static void
service_add_number(struct text_buffer *text, uint64_t value)
{
	text_add_format(text, "} %llu\n", (unsigned long long)value);
}

static void
service_add_seconds(struct text_buffer *text, uint64_t us)
{
	text_add_format(text, "} %llu.%06u\n", (unsigned long long)(us / 1000000), (unsigned)(us % 1000000));
}

static void
service_write_connections(struct text_buffer *text, const struct service *service)
{
	service_add_labels(text, "connections_total", service);
	service_add_number(text, service->connections);
}

static void
service_write_failed(struct text_buffer *text, const struct service *service)
{
	for (unsigned i = 0; i < SERVICE_FAILURES; i++) {
		service_add_labels(text, "failed_connections_total", service);
		text_add_format(text, ",reason=\"%s\"", service_failure_reason(i));
		service_add_number(text, service->failed[i]);
	}
}

static void
service_write_slow(struct text_buffer *text, const struct service *service)
{
	service_add_labels(text, "slow_answers_total", service);
	service_add_number(text, service->slow_answers);
}

static void
service_write_bytes(struct text_buffer *text, const struct service *service)
{
	service_add_labels(text, "bytes_total", service);
	service_add_number(text, service->bytes);
}

static void
service_write_segments(struct text_buffer *text, const struct service *service)
{
	service_add_labels(text, "segments_total", service);
	service_add_number(text, service->segments);
}

static void
service_write_resent(struct text_buffer *text, const struct service *service)
{
	service_add_labels(text, "retransmissions_total", service);
	service_add_number(text, service->resent);
}

static void
service_write_waits(struct text_buffer *text, const struct service *service)
{
	for (unsigned i = 0; i < CONNREC_WAITS; i++) {
		service_add_labels(text, "time_seconds_total", service);
		text_add_format(text, ",for=\"%s\"", record_wait_name(i));
		service_add_seconds(text, service->waits[i]);
	}
}

static void
service_write_times(struct text_buffer *text, const struct service *service, const struct service_times *times,
		    const char *bucket, const char *sum, const char *count)
{
	for (uint64_t bound = FIRST_BOUND_US; bound <= LAST_BOUND_US; bound *= 4) {
		service_add_labels(text, bucket, service);
		text_add_format(text, ",le=\"%.9g\"", (double)bound / 1e6);
		service_add_number(text, service_times_below(times, bound));
	}
	service_add_labels(text, bucket, service);
	text_add_format(text, ",le=\"+Inf\"");
	service_add_number(text, times->count);
	service_add_labels(text, sum, service);
	service_add_seconds(text, times->sum_us);
	service_add_labels(text, count, service);
	service_add_number(text, times->count);
}

static void
service_write_handshakes(struct text_buffer *text, const struct service *service)
{
	service_write_times(text, service, &service->connect, "handshake_seconds_bucket", "handshake_seconds_sum",
			    "handshake_seconds_count");
}

static void
service_write_answers(struct text_buffer *text, const struct service *service)
{
	service_write_times(text, service, &service->answer, "answer_seconds_bucket", "answer_seconds_sum",
			    "answer_seconds_count");
}

static const struct {
	const char *name, *type, *help;
	void (*write)(struct text_buffer *text, const struct service *service);
} families[] = {
    {"connections_total", "counter", "Connections that have ended, by service.", service_write_connections},
    {"failed_connections_total", "counter", "Connections that failed, by service and reason.", service_write_failed},
    {"handshake_seconds", "histogram", "Time from the SYN to the ACK of the SYN,ACK, by service.",
     service_write_handshakes},
    {"answer_seconds", "histogram", "Time that the server took for an answer, by service.", service_write_answers},
    {"slow_answers_total", "counter", "Answers for which the server took 500 ms or more, by service.",
     service_write_slow},
    {"bytes_total", "counter", "Payload of connections that have ended, by service.", service_write_bytes},
    {"segments_total", "counter", "Segments and datagrams of connections that have ended, by service.",
     service_write_segments},
    {"retransmissions_total", "counter", "Segments that were sent again, by service.", service_write_resent},
    {"time_seconds_total", "counter", "What the time of connections that have ended went to, by service.",
     service_write_waits},
};

#define FAMILIES (sizeof families / sizeof families[0])

bool
service_metrics_write(struct service_metrics *metrics, struct text_buffer *text)
{
	if (metrics->count == 0)
		return false;
	while (metrics->family < FAMILIES && text_space_left(text) >= SAMPLES_MAX) {
		if (metrics->next == 0)
			text_add_format(text, "# HELP netobs_service_%s %s\n# TYPE netobs_service_%s %s\n",
					families[metrics->family].name, families[metrics->family].help,
					families[metrics->family].name, families[metrics->family].type);
		families[metrics->family].write(text, metrics->list[metrics->next]);
		if (++metrics->next == metrics->count) {
			metrics->next = 0;
			metrics->family++;
		}
	}
	return metrics->family < FAMILIES;
}
