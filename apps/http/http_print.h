/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the http probes in --print. */
#ifndef NETOBS_APPS_HTTP_HTTP_PRINT_H
#define NETOBS_APPS_HTTP_HTTP_PRINT_H

#include "base/format.h"
#include "probes/print/text_line.h"

char *http_format_line(char *at, const struct text_firing *firing);

#endif
