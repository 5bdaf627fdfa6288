/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for connections, as netobsctl and the metrics use them. */
#ifndef NETOBS_DAEMON_STATS_FLOW_NAMES_H
#define NETOBS_DAEMON_STATS_FLOW_NAMES_H

#include "flow/flow.h"

/* The end that is shown as local: the local one, else the one that was seen first. */
unsigned flow_reported_endpoint(const struct flow *flow);

/* "tcp", "udp" or "sctp". */
const char *flow_protocol_name(const struct flow *flow);

/* State of an end, such as "established"; "-" if it has none. */
const char *flow_state_name(const struct flow *flow, unsigned endpoint);

#endif
