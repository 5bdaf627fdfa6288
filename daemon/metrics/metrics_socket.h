/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the socket of the metrics server. */
#ifndef NETOBS_DAEMON_METRICS_METRICS_SOCKET_H
#define NETOBS_DAEMON_METRICS_METRICS_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"
#include "daemon/query/unix_socket.h"

/* Listens at the configured address, nonblocking; `access` is that of a Unix socket.  -1, with a message logged, if
 * that fails or is not allowed. */
int metrics_socket_listen(const struct config *config, const struct unix_socket_access *access);

/* Whether an address with a port is one of loopback. */
bool metrics_socket_is_local(const char *text);

#endif
