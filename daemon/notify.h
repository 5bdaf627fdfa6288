/* SPDX-License-Identifier: BSD-2-Clause */
/* What the service manager is told, in the protocol of sd_notify(3).  By hand: it is one datagram, and libsystemd
 * would be a large neighbour for a process that parses what strangers send. */
#ifndef NETOBS_DAEMON_NOTIFY_H
#define NETOBS_DAEMON_NOTIFY_H

#include <stdint.h>

struct notify;

/* Connects to $NOTIFY_SOCKET; NULL, with a message logged only if the variable is set and of no use, where nobody wants
 * to be told.  Every function takes NULL and does nothing. */
struct notify *notify_open(void);
void notify_close(struct notify *notify);

/* Sends variables, "READY=1\nSTATUS=...".  A manager that does not listen is not waited for. */
void notify_send(struct notify *notify, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* RELOADING=1 with the time that Type=notify-reload asks for; READY=1 is to follow. */
void notify_reloading(struct notify *notify);

/* How often, in nanoseconds, WATCHDOG=1 is to be sent: half of what the manager allows.  0: it does not ask. */
uint64_t notify_watchdog(const struct notify *notify);

#endif
