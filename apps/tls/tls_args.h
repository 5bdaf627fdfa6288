/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of the tls probes. */
#ifndef NETOBS_APPS_TLS_TLS_ARGS_H
#define NETOBS_APPS_TLS_TLS_ARGS_H

#include "apps/tls/tls_message.h"
#include "probes/netobs.h"

void args_tlsinfo(struct tlsinfo *info, const struct tls_message *message);

#endif
