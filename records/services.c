/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/services.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Lists of rows with the same hash: a power of two. */
#define BUCKETS 4096u

/* Rows that are examined for one to reuse. */
#define EXAMINED 8u

#define NO_ROW SERVICES_MAX

#define FLAG_FIN 0x01u

struct services {
	uint64_t seed; /* secret: nobody can choose addresses with long lists */
	size_t count;
	size_t unopened; /* rows of services to which no connection came about */
	size_t hand;	 /* the row to examine next for reuse */
	struct service others;
	uint32_t buckets[BUCKETS]; /* first row, NO_ROW: none */
	struct service rows[SERVICES_MAX];
};

/* ----------------------------------------------------------------------------------------------------------- times */

static unsigned
service_interval_of(uint64_t us)
{
	unsigned exponent, interval;

	if (us < 8)
		return (unsigned)us;
	exponent = 63u - (unsigned)__builtin_clzll(us);
	interval = (exponent - 2) * 8 + (unsigned)(us >> (exponent - 3) & 7);
	return interval < SERVICE_INTERVALS ? interval : SERVICE_INTERVALS - 1;
}

/* The middle of an interval. */
static uint64_t
service_interval_middle(unsigned interval)
{
	unsigned shift = interval < 16 ? 0 : interval / 8 - 1;

	if (shift == 0)
		return interval;
	return ((uint64_t)(8 + interval % 8) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static void
service_times_add(struct service_times *times, uint64_t us, uint64_t count)
{
	uint32_t *at = &times->counts[service_interval_of(us)];

	if (count == 0)
		return;
	if (times->count == 0 || us < times->min_us)
		times->min_us = us;
	if (us > times->max_us)
		times->max_us = us;
	times->count += count;
	times->sum_us += us * count;
	*at = count < UINT32_MAX - *at ? *at + (uint32_t)count : UINT32_MAX;
}

int64_t
service_times_share(const struct service_times *times, unsigned percent)
{
	uint64_t all = 0, rank, seen = 0, us;

	for (unsigned i = 0; i < SERVICE_INTERVALS; i++)
		all += times->counts[i];
	if (all == 0)
		return -1;
	rank = (all * percent + 99) / 100;
	if (rank <= 1 || rank == all)
		return (int64_t)(rank <= 1 ? times->min_us : times->max_us);
	for (unsigned i = 0; i < SERVICE_INTERVALS; i++) {
		seen += times->counts[i];
		if (seen < rank)
			continue;
		us = service_interval_middle(i);
		return (int64_t)(us < times->min_us ? times->min_us : us > times->max_us ? times->max_us : us);
	}
	return (int64_t)times->max_us;
}

uint64_t
service_times_below(const struct service_times *times, uint64_t bound_us)
{
	uint64_t below = 0;

	for (unsigned i = 0; i < service_interval_of(bound_us); i++)
		below += times->counts[i];
	return below;
}

int64_t
service_times_max(const struct service_times *times)
{
	return times->count != 0 ? (int64_t)times->max_us : -1;
}

static void
service_times_merge(struct service_times *times, const struct service_times *from)
{
	if (from->count == 0)
		return;
	if (times->count == 0 || from->min_us < times->min_us)
		times->min_us = from->min_us;
	if (from->max_us > times->max_us)
		times->max_us = from->max_us;
	times->count += from->count;
	times->sum_us += from->sum_us;
	for (unsigned i = 0; i < SERVICE_INTERVALS; i++)
		times->counts[i] = from->counts[i] < UINT32_MAX - times->counts[i] ? times->counts[i] + from->counts[i]
										  : UINT32_MAX;
}

/* --------------------------------------------------------------------------------------------------------- service */

const char *
service_failure_reason(enum service_failure failure)
{
	static const char *const reasons[SERVICE_FAILURES] = {
	    [SERVICE_REFUSED] = "refused",
	    [SERVICE_UNREACHABLE] = "unreachable",
	    [SERVICE_NO_ANSWER] = "no-answer",
	    [SERVICE_RESET_BY_CLIENT] = "reset-by-client",
	    [SERVICE_RESET_BY_SERVER] = "reset-by-server",
	};

	return reasons[failure];
}

uint64_t
service_failed(const struct service *service)
{
	uint64_t failed = 0;

	for (unsigned i = 0; i < SERVICE_FAILURES; i++)
		failed += service->failed[i];
	return failed;
}

/* The classes in which somebody waits. */
static void
service_blamed_waits(const struct service *service, uint64_t us[CONNREC_WAITS])
{
	memcpy(us, service->waits, sizeof service->waits);
	us[CONNREC_WAIT_PATH] = us[CONNREC_WAIT_NETWORK] = us[CONNREC_WAIT_CLIENT] = 0;
	us[CONNREC_WAIT_CLOSING] = us[CONNREC_WAIT_UNKNOWN] = 0;
}

uint64_t
service_waited_us(const struct service *service)
{
	uint64_t us[CONNREC_WAITS], sum = 0;

	service_blamed_waits(service, us);
	for (unsigned i = 0; i < CONNREC_WAITS; i++)
		sum += us[i];
	return sum;
}

const char *
service_waited_for(const struct service *service)
{
	uint64_t us[CONNREC_WAITS];

	service_blamed_waits(service, us);
	return record_waits_longest(us);
}

/* A RST after both FINs is not a failure. */
static void
service_count_failure(struct service *service, const struct connrec *record)
{
	if ((record->cr_client_flags & record->cr_server_flags & FLAG_FIN) != 0)
		return;
	for (unsigned i = 0; i < SERVICE_FAILURES; i++)
		service->failed[i] += strcmp(record->cr_reason, service_failure_reason(i)) == 0;
}

static void
service_count_answers(struct service *service, const struct connrec *record)
{
	uint64_t count = record->cr_exchanges, min, max, mean;

	if (count == 0 || record->cr_server_max_us < 0)
		return;
	max = (uint64_t)record->cr_server_max_us;
	min = record->cr_server_min_us < 0 ? max : (uint64_t)record->cr_server_min_us;
	service_times_add(&service->answer, max, 1);
	if (count > 1)
		service_times_add(&service->answer, min, 1);
	if (count < 3)
		return;
	mean = record->cr_server_us > min + max ? (record->cr_server_us - min - max) / (count - 2) : 0;
	service_times_add(&service->answer, mean < min ? min : mean > max ? max : mean, count - 2);
}

/* Other protocols name what is asked for. */
static void
service_take_name(struct service *service, const struct connrec *record)
{
	if (strcmp(record->cr_name_from, "tls") != 0 && strcmp(record->cr_name_from, "http") != 0)
		return;
	if (service->name[0] == '\0')
		memcpy(service->name, record->cr_name, sizeof service->name);
	else
		service->named_more |= strncmp(service->name, record->cr_name, sizeof service->name) != 0;
}

static void
service_count(struct service *service, const struct connrec *record, bool open)
{
	uint64_t waits[CONNREC_WAITS];

	service->connections++;
	service->open += open;
	service_count_failure(service, record);
	if (record->cr_handshake_us >= 0) {
		service->opened++;
		service_times_add(&service->connect, (uint64_t)record->cr_handshake_us, 1);
	}
	service->exchanges += record->cr_exchanges;
	service->slow_answers += record->cr_slow_answers;
	service_count_answers(service, record);
	service->bytes += record->cr_client_bytes + record->cr_server_bytes;
	service->segments += record->cr_client_segments + record->cr_server_segments;
	service->resent += record->cr_client_resent + record->cr_server_resent;
	record_waits_of(record, waits);
	for (unsigned i = 0; i < CONNREC_WAITS; i++)
		service->waits[i] += waits[i];
	if (record->cr_end > service->last)
		service->last = record->cr_end;
}

/* Whether the server has answered, so that the service exists. */
static bool
service_is_opened(const struct service *service)
{
	return service->opened != 0 || service->exchanges != 0;
}

static void
service_merge(struct service *service, const struct service *from)
{
	service->connections += from->connections;
	service->open += from->open;
	service->opened += from->opened;
	for (unsigned i = 0; i < SERVICE_FAILURES; i++)
		service->failed[i] += from->failed[i];
	service->exchanges += from->exchanges;
	service->slow_answers += from->slow_answers;
	service->bytes += from->bytes;
	service->segments += from->segments;
	service->resent += from->resent;
	for (unsigned i = 0; i < CONNREC_WAITS; i++)
		service->waits[i] += from->waits[i];
	service_times_merge(&service->connect, &from->connect);
	service_times_merge(&service->answer, &from->answer);
	if (from->last > service->last)
		service->last = from->last;
}

/* ----------------------------------------------------------------------------------------------------------- table */

struct services *
services_new(void)
{
	struct services *services = calloc(1, sizeof *services);

	if (services == NULL)
		return NULL;
	if (getrandom(&services->seed, sizeof services->seed, GRND_NONBLOCK) != (ssize_t)sizeof services->seed) {
		free(services);
		return NULL;
	}
	snprintf(services->others.address, sizeof services->others.address, "others");
	for (size_t i = 0; i < BUCKETS; i++)
		services->buckets[i] = NO_ROW;
	return services;
}

void
services_free(struct services *services)
{
	free(services);
}

struct services *
services_copy(const struct services *services)
{
	struct services *copy = malloc(sizeof *copy);

	if (copy != NULL)
		memcpy(copy, services, offsetof(struct services, rows) + services->count * sizeof services->rows[0]);
	return copy;
}

static uint32_t *
services_bucket(struct services *services, const char *address, uint16_t port, uint8_t protocol)
{
	uint64_t seed = services->seed ^ ((uint64_t)port << 8 | protocol);

	return &services->buckets[XXH3_64bits_withSeed(address, strlen(address), seed) % BUCKETS];
}

static struct service *
services_find(struct services *services, const uint32_t *bucket, const struct connrec *record)
{
	for (uint32_t row = *bucket; row != NO_ROW; row = services->rows[row].next) {
		struct service *service = &services->rows[row];

		if (service->port == record->cr_server_port && service->protocol == record->cr_protocol &&
		    strcmp(service->address, record->cr_server) == 0)
			return service;
	}
	return NULL;
}

/* Gives up a row, whose counts go to the row for all others. */
static void
services_evict(struct services *services, uint32_t row)
{
	struct service *service = &services->rows[row];
	uint32_t *at = services_bucket(services, service->address, service->port, service->protocol);

	while (*at != row)
		at = &services->rows[*at].next;
	*at = service->next;
	services->unopened -= !service_is_opened(service);
	service_merge(&services->others, service);
}

/* A row for a new service: an unused one, or that of a service without records; NO_ROW if there is none. */
static uint32_t
services_free_row(struct services *services, uint64_t now)
{
	if (services->count < SERVICES_MAX)
		return (uint32_t)services->count++;
	for (unsigned i = 0; i < EXAMINED; i++) {
		uint32_t row = (uint32_t)services->hand;

		services->hand = (services->hand + 1) % SERVICES_MAX;
		if (now > services->rows[row].last && now - services->rows[row].last >= SERVICES_IDLE_NS) {
			services_evict(services, row);
			return row;
		}
	}
	return NO_ROW;
}

/* The row of a new service; that for all others if there is none. */
static struct service *
services_add(struct services *services, uint32_t *bucket, const struct connrec *record)
{
	bool opened = record->cr_handshake_us >= 0 || record->cr_exchanges != 0;
	struct service *service;
	uint32_t row;

	if (!opened && services->unopened >= SERVICES_UNOPENED_MAX)
		return &services->others;
	row = services_free_row(services, record->cr_end);
	if (row == NO_ROW)
		return &services->others;
	service = &services->rows[row];
	memset(service, 0, sizeof *service);
	memcpy(service->address, record->cr_server, sizeof service->address);
	service->port = record->cr_server_port;
	service->protocol = record->cr_protocol;
	service->next = *bucket;
	*bucket = row;
	services->unopened++; /* until the record is counted */
	return service;
}

void
services_take(struct services *services, const struct connrec *record, bool open)
{
	uint32_t *bucket =
	    services_bucket(services, record->cr_server, record->cr_server_port, record->cr_protocol);
	struct service *service = services_find(services, bucket, record);
	bool opened;

	if (!open && strcmp(record->cr_reason, "open") == 0)
		return;
	if (service == NULL)
		service = services_add(services, bucket, record);
	opened = service_is_opened(service);
	service_count(service, record, open);
	if (service == &services->others)
		return;
	service_take_name(service, record);
	services->unopened -= !opened && service_is_opened(service);
}

size_t
services_count(const struct services *services)
{
	return services->count;
}

const struct service *
services_row(const struct services *services, size_t index)
{
	return &services->rows[index];
}

const struct service *
services_others(const struct services *services)
{
	return services->others.connections != 0 ? &services->others : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- order */

static uint64_t
service_cost(const struct service *service)
{
	return service_waited_us(service) + SERVICE_FAILURE_US * service_failed(service);
}

/* qsort(). */
static int
service_compare(const void *a, const void *b)
{
	const struct service *x = *(const struct service *const *)a, *y = *(const struct service *const *)b;
	uint64_t p = service_cost(x), q = service_cost(y);

	if (p != q)
		return p > q ? -1 : 1;
	if (x->connections != y->connections)
		return x->connections > y->connections ? -1 : 1;
	if (strcmp(x->address, y->address) != 0)
		return strcmp(x->address, y->address);
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->protocol < y->protocol ? -1 : x->protocol > y->protocol;
}

size_t
services_list(const struct services *services, uint64_t since, const struct service **list)
{
	size_t recent = 0, count = 0;

	for (size_t i = 0; i < services->count; i++)
		if (services->rows[i].last >= since)
			list[count++] = &services->rows[i];
	recent = count;
	for (size_t i = 0; i < services->count; i++)
		if (services->rows[i].last < since)
			list[count++] = &services->rows[i];
	qsort(list, recent, sizeof *list, service_compare);
	qsort(list + recent, count - recent, sizeof *list, service_compare);
	if (services_others(services) != NULL)
		list[count++] = &services->others;
	return count;
}
