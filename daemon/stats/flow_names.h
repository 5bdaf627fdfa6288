/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections in the words of netobsctl and of the metrics. */
#ifndef NETOBS_DAEMON_QUERY_FLOW_NAMES_H
#define NETOBS_DAEMON_QUERY_FLOW_NAMES_H

#include "flow/flow.h"

/* The end that is told as local: the one that is, else the one that was seen first. */
unsigned flow_near_end(const struct flow *flow);

/* "tcp", "udp" or "sctp". */
const char *flow_protocol_word(const struct flow *flow);

/* The state of an end, "established"; "-" where there is none. */
const char *flow_state_word(const struct flow *flow, unsigned end);

#endif
