/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of the http probes. */
#ifndef NETOBS_APPS_HTTP_HTTP_ARGS_H
#define NETOBS_APPS_HTTP_HTTP_ARGS_H

#include "apps/http/http_message.h"
#include "probes/netobs.h"

void args_httpinfo(struct httpinfo *info, const struct http_message *message);

#endif
