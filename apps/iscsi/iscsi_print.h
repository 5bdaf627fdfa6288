/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the iscsi probes in --print. */
#ifndef NETOBS_APPS_ISCSI_ISCSI_PRINT_H
#define NETOBS_APPS_ISCSI_ISCSI_PRINT_H

#include "probes/print/text_line.h"

/* A text_formatter. */
char *iscsi_format_line(char *at, const struct text_firing *firing);

#endif
