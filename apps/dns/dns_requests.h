/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries that wait for their response: a bounded table.  A query is known by its connection, id, name and type; the
 * same query again is another try.  All have the same timeout: the oldest is the next to time out.  A query whose
 * response was captured up to a second before it does not wait.
 */
#ifndef NETOBS_APPS_DNS_DNS_REQUESTS_H
#define NETOBS_APPS_DNS_DNS_REQUESTS_H

#include "apps/dns/dns_message.h"
#include "flow/stream/app_reader.h"

/* Queries that may wait at once, of all workers; the oldest is evicted in favour of another one. */
#define DNS_REQUESTS_MAX 16384u

struct dns_requests;

/* app_reader.open(), close() and shared_size(). */
void *dns_requests_open(const struct app_settings *settings);
void dns_requests_close(void *requests);
size_t dns_requests_size(const struct app_settings *settings);

/* app_reader.clear(): no query waits any more. */
void dns_requests_clear(void *requests);

const struct app_request_counters *dns_requests_counters(const void *requests);

/* A query of ctx->flow: sets its `tries`. */
void dns_requests_begin(const struct app_context *ctx, struct dns_message *query);

/* A response: sets its `tries` and `latency_us` if its query waits, which then does no longer. */
void dns_requests_answer(const struct app_context *ctx, struct dns_message *response);

/* app_reader.next_timeout() and on_time(). */
uint64_t dns_requests_next_timeout(const void *requests);
void dns_requests_on_time(struct app_context *ctx);

#endif
