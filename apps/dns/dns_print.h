/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the dns probes in --print. */
#ifndef NETOBS_APPS_DNS_DNS_PRINT_H
#define NETOBS_APPS_DNS_DNS_PRINT_H

#include "base/format.h"
#include "probes/print/text_line.h"

char *dns_format_line(char *at, const struct text_firing *firing);

#endif
