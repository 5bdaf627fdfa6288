/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports the state of a run to the service manager: readiness, status, watchdog. */
#ifndef NETOBS_DAEMON_SERVICE_H
#define NETOBS_DAEMON_SERVICE_H

#include <stdbool.h>

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

#endif
