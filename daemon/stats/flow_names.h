/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for connections, as netobsctl and the metrics use them. */
#ifndef NETOBS_DAEMON_STATS_FLOW_NAMES_H
#define NETOBS_DAEMON_STATS_FLOW_NAMES_H

#include "flow/flow.h"

/* The endpoint that is reported as local: the local one, else the one that sent the first packet. */
unsigned flow_reported_endpoint(const struct flow *flow);

/* "tcp", "udp" or "sctp". */
const char *flow_protocol_name(const struct flow *flow);

/* State of an endpoint, such as "established"; "-" if it has no state. */
const char *flow_state_name(const struct flow *flow, unsigned endpoint);

/* Seconds since the first packet. */
double flow_age_seconds(const struct flow_table *table, const struct flow *flow);

#endif
