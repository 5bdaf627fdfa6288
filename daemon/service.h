/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run tells its service manager while it lasts: that it is ready, what it has seen, that it is alive. */
#ifndef NETOBS_DAEMON_SERVICE_H
#define NETOBS_DAEMON_SERVICE_H

#include <stdbool.h>

#include "daemon/base/loop.h"
#include "daemon/capture/workers.h"

struct service;

/* Connects to the service manager, if there is one; to be called before system calls are filtered.  NULL, with a
 * message logged, if memory cannot be had. */
struct service *service_new(struct loop *loop);

/* Says that netobsd ends, if it ever was ready. */
void service_free(struct service *service);

/* Everything is open and nothing can fail any more.  Once is enough; again does no harm. */
void service_ready(struct service *service);

/* From now on the status tells of the workers, which are borrowed. */
void service_watch(struct service *service, struct workers *workers);

/* The workers are about to go. */
void service_unwatch(struct service *service);

/* Around a change of the configuration. */
void service_reloading(struct service *service);
void service_reloaded(struct service *service);

#endif
