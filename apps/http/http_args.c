/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_args.h"

void
args_httpinfo(struct httpinfo *info, const struct http_message *message)
{
	(void)message;
	*info = (struct httpinfo){0};
}
