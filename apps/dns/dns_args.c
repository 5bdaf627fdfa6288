/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_args.h"

void
args_dnsinfo(struct dnsinfo *info, const struct dns_message *message)
{
	(void)message;
	*info = (struct dnsinfo){0};
}
