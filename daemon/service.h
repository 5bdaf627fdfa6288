/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports the state of a run to the service manager: readiness, status, watchdog. */
#ifndef NETOBS_DAEMON_SERVICE_H
#define NETOBS_DAEMON_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "observe/workers.h"

struct service;

/* Connects to the service manager, if there is one; call it before system calls are filtered.  NULL, with a message
 * logged, if out of memory. */
struct service *service_new(struct loop *loop);

/* Reports that netobsd stops, if it has been ready. */
void service_free(struct service *service);

/* Reports that netobsd is ready: everything is open and nothing can fail any more.  Repeated calls have no effect. */
void service_notify_ready(struct service *service);

/* From now on the status includes counters of the workers, which are borrowed. */
void service_set_workers(struct service *service, struct workers *workers);

/* Call it before the workers are freed. */
void service_clear_workers(struct service *service);

/* Call these before and after a change of the configuration. */
void service_notify_reloading(struct service *service);
void service_notify_reloaded(struct service *service);

/* Notifications by the protocol of sd_notify(3).  Implemented here, because a notification is one datagram, and
 * libsystemd would be a large library to load into a process that parses untrusted input. */

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
