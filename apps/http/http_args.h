/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of the http probes. */
#ifndef NETOBS_APPS_HTTP_HTTP_ARGS_H
#define NETOBS_APPS_HTTP_HTTP_ARGS_H

#include "apps/http/http_reader.h"
#include "probes/netobs.h"

/* Fills the argument of both probes for a request of `flow`, as endpoint `endpoint` sees it. */
void args_httpinfo(struct httpinfo *info, const struct http_message *message, const struct flow *flow,
		   unsigned endpoint);

#endif
