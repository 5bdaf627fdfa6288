/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of the dns probes. */
#ifndef NETOBS_APPS_DNS_DNS_ARGS_H
#define NETOBS_APPS_DNS_DNS_ARGS_H

#include "apps/dns/dns_message.h"
#include "probes/netobs.h"

void args_dnsinfo(struct dnsinfo *info, const struct dns_message *message);

#endif
