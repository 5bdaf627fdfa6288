/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the descriptors of the clients of the process: those of the control socket, of the metrics and of streams.
 * They have a limit, so that clients leave enough for capture, and other users leave some for privileged clients.  For
 * the main thread only. */
#ifndef NETOBS_DAEMON_QUERY_CLIENT_DESCRIPTORS_H
#define NETOBS_DAEMON_QUERY_CLIENT_DESCRIPTORS_H

#include <stdbool.h>

#include "config/config.h"

/* The last descriptors, which only privileged clients may have: their places of one server, and the clients of two
 * servers that are just told that they are not served. */
#define CLIENT_DESCRIPTORS_PRIVILEGED 12u

/* Most descriptors that the clients of this configuration can have. */
unsigned client_descriptors_wanted(const struct config *config);

/* Sets the limit, at least CLIENT_DESCRIPTORS_PRIVILEGED; there is none before. */
void client_descriptors_limit(unsigned most);

/* Counts the descriptor of a client. */
void client_descriptors_add(void);

/* Whether there are more than a client may add to. */
bool client_descriptors_exceed(bool privileged);

/* Closes the descriptor of a client. */
void client_descriptors_close(int fd);

#endif
