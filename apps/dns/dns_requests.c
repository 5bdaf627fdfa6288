/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

#include "flow/memory.h"

#define DNS_REQUEST_BUCKETS (2 * DNS_REQUESTS_MAX)

/* Responses captured before their query that are known at once, and how long: one direction may be captured late. */
#define DNS_EARLY_MAX 1024u
#define DNS_EARLY_NS  1000000000u

/* Responses that no query waited for; or that are not expected, because the query was answered or has timed out. */
struct dns_early {
	uint64_t cid, time; /* packet time of the latest message, ns */
	uint64_t question;  /* hash of it, and of the id */
	uint16_t responses; /* queries to come that they answer; 0 with `settled`, or free */
	bool settled;	    /* a response that comes next is superfluous */
};

/* Index 0 means none. */
struct dns_request {
	const struct flow *flow; /* its memory may belong to another connection by now; compare `cid` */
	uint64_t cid;		 /* connection id of its endpoint 0 */
	uint64_t begun;		 /* packet time of the first copy, ns */
	uint64_t sent;		 /* likewise; 0 unknown */
	uint32_t bucket_next;	 /* next in the hash bucket, or in the free list */
	uint32_t newer, older;	 /* neighbours by age */
	struct dns_message query;
};

struct dns_requests {
	struct dns_request *entries;
	uint32_t bucket[DNS_REQUEST_BUCKETS];
	struct dns_early early[DNS_EARLY_MAX];
	uint32_t requests_max, newest, oldest, free_head, high_water;
	uint64_t seed, timeout_ns;
	struct app_request_counters counters;
};

static size_t
dns_requests_entries_size(uint32_t requests_max)
{
	return (requests_max + (size_t)1) * sizeof(struct dns_request);
}

void *
dns_requests_open(const struct app_settings *settings)
{
	struct dns_requests *requests = memory_reserve(sizeof *requests);

	if (requests == NULL)
		return NULL;
	requests->seed = settings->seed;
	requests->timeout_ns = settings->timeout_ns;
	requests->requests_max = app_settings_share(settings, DNS_REQUESTS_MAX);
	requests->entries = memory_reserve(dns_requests_entries_size(requests->requests_max));
	if (requests->entries != NULL)
		return requests;
	dns_requests_close(requests);
	return NULL;
}

void
dns_requests_close(void *shared)
{
	struct dns_requests *requests = shared;

	memory_release(requests->entries, dns_requests_entries_size(requests->requests_max));
	memory_release(requests, sizeof *requests);
}

size_t
dns_requests_size(const struct app_settings *settings)
{
	return sizeof(struct dns_requests) +
	       dns_requests_entries_size(app_settings_share(settings, DNS_REQUESTS_MAX));
}

const struct app_request_counters *
dns_requests_counters(const void *requests)
{
	return &((const struct dns_requests *)requests)->counters;
}

/* ------------------------------------------------------------------------------------------------------- the table */

static uint32_t *
dns_requests_bucket(struct dns_requests *requests, uint64_t cid, uint16_t id)
{
	uint64_t key[2] = {cid, id};

	return &requests->bucket[XXH3_64bits_withSeed(key, sizeof key, requests->seed) % DNS_REQUEST_BUCKETS];
}

/* A query has the same sender, a response the other one, and it may lack the question. */
static bool
dns_request_is_for(const struct dns_request *request, uint64_t cid, const struct dns_message *message)
{
	bool same_sender = request->query.sender == message->sender;

	if (request->cid != cid || request->query.id != message->id ||
	    same_sender == ((message->flags & DNS_RESPONSE) != 0))
		return false;
	return message->questions == 0 || (request->query.qtype == message->qtype &&
					   dns_name_equal(request->query.qname, message->qname));
}

static uint32_t
dns_requests_find(struct dns_requests *requests, uint64_t cid, const struct dns_message *message)
{
	uint32_t index = *dns_requests_bucket(requests, cid, message->id);

	while (index != 0 && !dns_request_is_for(&requests->entries[index], cid, message))
		index = requests->entries[index].bucket_next;
	return index;
}

static void
dns_requests_remove(struct dns_requests *requests, uint32_t index)
{
	struct dns_request *request = &requests->entries[index];
	uint32_t *link = dns_requests_bucket(requests, request->cid, request->query.id);

	while (*link != index)
		link = &requests->entries[*link].bucket_next;
	*link = request->bucket_next;
	if (request->newer != 0)
		requests->entries[request->newer].older = request->older;
	else
		requests->newest = request->older;
	if (request->older != 0)
		requests->entries[request->older].newer = request->newer;
	else
		requests->oldest = request->newer;
	request->bucket_next = requests->free_head;
	requests->free_head = index;
	requests->counters.now--;
}

static uint32_t
dns_requests_alloc(struct dns_requests *requests)
{
	uint32_t index;

	if (requests->free_head == 0 && requests->high_water == requests->requests_max) {
		dns_requests_remove(requests, requests->oldest);
		requests->counters.evicted++;
	}
	index = requests->free_head;
	if (index == 0)
		return ++requests->high_water;
	requests->free_head = requests->entries[index].bucket_next;
	return index;
}

static void
dns_requests_add(struct dns_requests *requests, const struct app_context *ctx, const struct dns_message *query)
{
	uint32_t index = dns_requests_alloc(requests), *bucket = dns_requests_bucket(requests, ctx->cid, query->id);

	requests->entries[index] = (struct dns_request){
	    .flow = ctx->flow,
	    .cid = ctx->cid,
	    .begun = ctx->now,
	    .sent = app_bytes_time(ctx),
	    .bucket_next = *bucket,
	    .older = requests->newest,
	    .query = *query,
	};
	*bucket = index;
	if (requests->newest != 0)
		requests->entries[requests->newest].newer = index;
	else
		requests->oldest = index;
	requests->newest = index;
	requests->counters.begun++;
	requests->counters.now++;
}

/* ---------------------------------------------------------------------------------------------------- the messages */

static struct dns_early
dns_early_of(const struct dns_requests *requests, uint64_t cid, uint64_t now, const struct dns_message *message)
{
	char name[DNS_NAME_SIZE + 4] = {(char)(message->id >> 8), (char)message->id, (char)(message->qtype >> 8),
					(char)message->qtype};
	size_t length = 0;

	/* Names differ in case only if a client wants it so, and then both messages do. */
	for (; message->qname[length] != '\0'; length++)
		name[4 + length] = message->qname[length];
	return (struct dns_early){.cid = cid,
				  .time = now,
				  .question = XXH3_64bits_withSeed(name, 4 + length, requests->seed)};
}

static struct dns_early *
dns_early_slot(struct dns_requests *requests, const struct dns_early *early)
{
	return &requests->early[(early->question ^ early->cid) % DNS_EARLY_MAX];
}

static bool
dns_early_is_recent(const struct dns_early *slot, const struct dns_early *early)
{
	return (slot->settled || slot->responses != 0) && early->time - slot->time <= DNS_EARLY_NS;
}

static bool
dns_early_is_same(const struct dns_early *slot, const struct dns_early *early)
{
	return slot->cid == early->cid && slot->question == early->question && dns_early_is_recent(slot, early);
}

/* A response that no query waits for: that of one which is captured later, unless its query is settled. */
static void
dns_early_add(struct dns_requests *requests, const struct app_context *ctx, const struct dns_message *response)
{
	struct dns_early early = dns_early_of(requests, ctx->cid, ctx->now, response);
	struct dns_early *slot = dns_early_slot(requests, &early);
	bool same = dns_early_is_same(slot, &early);

	early.settled = same && slot->settled;
	if (!early.settled)
		early.responses = (uint16_t)(same && slot->responses < UINT16_MAX ? slot->responses + 1 : 1);
	*slot = early;
}

/* Whether the response to this query was captured before it. */
static bool
dns_early_take(struct dns_requests *requests, const struct app_context *ctx, const struct dns_message *query)
{
	struct dns_early early = dns_early_of(requests, ctx->cid, ctx->now, query);
	struct dns_early *slot = dns_early_slot(requests, &early);

	if (!dns_early_is_same(slot, &early) || slot->responses == 0)
		return false;
	slot->responses--;
	return true;
}

/* The query was answered, or has timed out.  A response for which a query is still to come counts more. */
static void
dns_early_settle(struct dns_requests *requests, const struct dns_request *request, uint64_t now)
{
	struct dns_early early = dns_early_of(requests, request->cid, now, &request->query);
	struct dns_early *slot = dns_early_slot(requests, &early);

	if (slot->responses != 0 && dns_early_is_recent(slot, &early) && !dns_early_is_same(slot, &early))
		return;
	early.settled = true;
	*slot = early;
}

void
dns_requests_clear(void *shared)
{
	struct dns_requests *requests = shared;

	memset(requests->early, 0, sizeof requests->early);
	while (requests->oldest != 0)
		dns_requests_remove(requests, requests->oldest);
}

void
dns_requests_begin(const struct app_context *ctx, struct dns_message *query)
{
	struct dns_requests *requests = ctx->shared;
	uint32_t index = dns_requests_find(requests, ctx->cid, query);

	query->tries = 1;
	if (index != 0)
		query->tries = ++requests->entries[index].query.tries;
	else if (!dns_early_take(requests, ctx, query))
		dns_requests_add(requests, ctx, query);
}

void
dns_requests_answer(const struct app_context *ctx, struct dns_message *response)
{
	struct dns_requests *requests = ctx->shared;
	uint32_t index = dns_requests_find(requests, ctx->cid, response);
	const struct dns_request *request = &requests->entries[index];

	if (index == 0) {
		dns_early_add(requests, ctx, response);
		return;
	}
	response->tries = request->query.tries;
	response->latency_us = app_elapsed_us(request->sent, app_bytes_time(ctx));
	requests->counters.answered++;
	dns_early_settle(requests, request, ctx->now);
	dns_requests_remove(requests, index);
}

/* ---------------------------------------------------------------------------------------------------- the timeouts */

uint64_t
dns_requests_next_timeout(const void *shared)
{
	const struct dns_requests *requests = shared;

	return requests->oldest != 0 ? requests->entries[requests->oldest].begun + requests->timeout_ns : UINT64_MAX;
}

void
dns_requests_on_time(struct app_context *ctx)
{
	struct dns_requests *requests = ctx->shared;

	while (dns_requests_next_timeout(requests) <= ctx->now) {
		struct dns_request *request = &requests->entries[requests->oldest];

		request->query.timed_out = true;
		requests->counters.timed_out++;
		requests->counters.forgotten +=
		    !ctx->on_timeout(ctx->context, request->flow, request->cid, request->begun + requests->timeout_ns,
				     &request->query);
		dns_early_settle(requests, request, ctx->now);
		dns_requests_remove(requests, requests->oldest);
	}
}
