/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services: what the connections to one port of a server have in common.  The table is bounded: a service that finds no
 * row is counted in one row for all others.  It has no lock.
 */
#ifndef NETOBS_RECORDS_SERVICES_H
#define NETOBS_RECORDS_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/netobs.h"
#include "records/record_waits.h"

/* Services that have rows of their own; about 2.5 KiB each, once they are used. */
#define SERVICES_MAX 4096u

/* Of these, such to which no connection came about: a scan leaves room for services that exist. */
#define SERVICES_UNOPENED_MAX (SERVICES_MAX / 2)

/* In a full table a service without a record for this time, ns, makes room for another one. */
#define SERVICES_IDLE_NS UINT64_C(600000000000)

/* What a failed connection counts in the order of services, us, besides what was waited. */
#define SERVICE_FAILURE_US UINT64_C(5000000)

/* How a connection failed. */
enum service_failure {
	SERVICE_REFUSED,
	SERVICE_UNREACHABLE,
	SERVICE_NO_ANSWER,
	SERVICE_RESET_BY_CLIENT,
	SERVICE_RESET_BY_SERVER,
	SERVICE_FAILURES
};

/* The value of cr_reason. */
const char *service_failure_reason(enum service_failure failure);

/* Intervals of times: exact below 16 us, then eight in each power of two, up to 36 minutes. */
#define SERVICE_INTERVALS 232u

/* Times, of which a share is known with an error of at most 6.25 %; the shortest and the longest one are exact. */
struct service_times {
	uint64_t count;
	uint64_t min_us, max_us, sum_us;
	uint32_t counts[SERVICE_INTERVALS];
};

/* The time that is not exceeded by so many per cent of the times, us; -1: there is none. */
int64_t service_times_share(const struct service_times *times, unsigned percent);

/* How many of the times are shorter than a bound, which is a power of two, us. */
uint64_t service_times_below(const struct service_times *times, uint64_t bound_us);

/* The longest time, us; -1: there is none. */
int64_t service_times_max(const struct service_times *times);

struct service {
	char address[46]; /* of the server, text; "others": the row for all others */
	uint16_t port;
	uint8_t protocol; /* IANA number; 0 in the row for all others */
	char name[256];	  /* of the server, as TLS or HTTP name it: bytes of others; "" unknown */
	bool named_more;  /* some connections have other names */
	uint64_t connections;
	uint64_t open;	 /* of these, such that have not ended */
	uint64_t opened; /* of these, such with a complete handshake */
	uint64_t failed[SERVICE_FAILURES];
	uint64_t exchanges, slow_answers;
	uint64_t bytes, segments, resent;
	uint64_t waits[CONNREC_WAITS]; /* us */
	struct service_times connect; /* of each complete handshake */
	struct service_times answer;  /* of each answer, the server's part; of more than three answers of a connection
				       * the shortest, the longest, and the mean of the others as often as there are */
	uint64_t last;		      /* latest end of a record, ns since the epoch */
	uint32_t next;		      /* row with the same hash, SERVICES_MAX: none */
};

/* Connections that failed, however. */
uint64_t service_failed(const struct service *service);

/* The time that somebody waited, us: not for distance, not while the client had nothing to ask. */
uint64_t service_waited_us(const struct service *service);

/* What was waited for longest of that, in a word as record_waits_longest(). */
const char *service_waited_for(const struct service *service);

struct services;

/* NULL if out of memory or without random numbers. */
struct services *services_new(void);
void services_free(struct services *services);

/* A copy with the same rows; NULL if out of memory. */
struct services *services_copy(const struct services *services);

/* Counts the record of a connection that has ended; with `open`, that of one that is open.  Records of open connections
 * among those of ended ones (--active-records) are left out: each connection counts once. */
void services_take(struct services *services, const struct connrec *record, bool open);

/* Rows in use; rows[0] to rows[count - 1] stay where they are. */
size_t services_count(const struct services *services);
const struct service *services_row(const struct services *services, size_t index);

/* The row for all others; NULL if nothing is in it. */
const struct service *services_others(const struct services *services);

/* Lists the rows for which most was waited first, a failed connection counting as SERVICE_FAILURE_US, and those without
 * a record since `since`, ns since the epoch, after all others; the row for all others stands last.  Returns how many:
 * at most SERVICES_MAX + 1. */
size_t services_list(const struct services *services, uint64_t since, const struct service **list);

#endif
