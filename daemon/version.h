/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsd --version. */
#ifndef NETOBS_DAEMON_VERSION_H
#define NETOBS_DAEMON_VERSION_H

#include <stdio.h>

/* Prints the versions of netobsd and of the libraries it runs with. */
void version_print(FILE *to);

#endif
