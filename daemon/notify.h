/* SPDX-License-Identifier: BSD-2-Clause */
/* Notifications to the service manager, by the protocol of sd_notify(3).  Implemented here, because a notification is
 * one datagram, and libsystemd would be a large library to load into a process that parses untrusted input. */
#ifndef NETOBS_DAEMON_NOTIFY_H
#define NETOBS_DAEMON_NOTIFY_H

#include <stdint.h>

struct notify;

/* Connects to $NOTIFY_SOCKET.  NULL if the variable is not set, or, with a message logged, if it is unusable.  Every
 * function accepts NULL and does nothing. */
struct notify *notify_open(void);
void notify_close(struct notify *notify);

/* Sends variables, such as "READY=1\nSTATUS=...".  Never waits for the manager. */
void notify_send(struct notify *notify, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends RELOADING=1 with the time that Type=notify-reload requires; READY=1 must follow. */
void notify_send_reloading(struct notify *notify);

/* Interval for WATCHDOG=1 in nanoseconds: half of the manager's timeout.  0: no watchdog. */
uint64_t notify_watchdog_interval(const struct notify *notify);

#endif
