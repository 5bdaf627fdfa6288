/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_args.h"

void
args_tlsinfo(struct tlsinfo *info, const struct tls_message *message)
{
	(void)message;
	*info = (struct tlsinfo){0};
}
