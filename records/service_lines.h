/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services as a table, a line each, and as members of JSON objects.
 *
 *	 CONNS FAILED CONNECT    P95    MAX  ANSWER    P95    MAX RESENT  BYTES WAITED        SERVICE
 *	    12   8.3%  20.1ms 22.4ms 1.02s   300ms  320ms  1.21s   0.5%  18204  4.21s server  192.0.2.9 port 443/tcp
 *
 * CONNECT and ANSWER are the times that half of the handshakes and answers do not exceed; "-": there was none.
 */
#ifndef NETOBS_RECORDS_SERVICE_LINES_H
#define NETOBS_RECORDS_SERVICE_LINES_H

#include "base/json.h"
#include "records/services.h"

/* Most bytes of a line. */
#define SERVICE_LINE_MAX 2048u

/* Write a line at `at`, where SERVICE_LINE_MAX bytes may be overwritten.  They return its end. */
char *service_put_titles(char *at);
char *service_put_line(const struct service *service, char *at);

/* "tcp", "udp", "sctp"; "" for others. */
const char *service_protocol(const struct service *service);

/* Adds the members of an object (netobs(1), SERVICES). */
void service_add_members(struct json *json, const struct service *service);

#endif
