/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/service.h"

#include <stdlib.h>

#include "base/log.h"
#include "daemon/notify.h"
#include "daemon/stats/stats.h"

/* Interval of status updates; the watchdog may require a shorter one. */
#define STATUS_INTERVAL_NS (2 * 1000000000ull)

struct service {
	struct notify *notify; /* NULL: no service manager */
	struct watch *timer;
	uint64_t interval_ns;
	bool ready;
	struct workers *workers; /* NULL unless frames are being observed */
};

static void
service_notify_status(struct service *service)
{
	struct stats_totals totals;

	if (service->workers == NULL) {
		notify_send(service->notify, "WATCHDOG=1\nSTATUS=Waiting for a tracer");
		return;
	}
	stats_collect(service->workers, &totals);
	notify_send(service->notify,
		    "WATCHDOG=1\nSTATUS=%llu packets observed, %llu dropped by the kernel, %llu by interfaces; "
		    "%llu connections now",
		    (unsigned long long)totals.observed.packets, (unsigned long long)totals.input.dropped,
		    (unsigned long long)totals.input.interface_dropped, (unsigned long long)totals.flows.flows);
}

static void
service_on_timer(void *context)
{
	struct service *service = context;

	log_limit_report_expired();
	if (service->ready && service->notify != NULL)
		service_notify_status(service);
	watch_arm_timer(service->timer, service->interval_ns);
}

struct service *
service_new(struct loop *loop)
{
	struct service *service = calloc(1, sizeof *service);
	uint64_t watchdog_ns;

	if (service != NULL)
		service->timer = loop_watch_timer(loop, service_on_timer, service);
	if (service == NULL || service->timer == NULL) {
		log_error("out of memory");
		free(service);
		return NULL;
	}
	service->notify = notify_open();
	watchdog_ns = notify_watchdog_interval(service->notify);
	service->interval_ns = watchdog_ns > 0 && watchdog_ns < STATUS_INTERVAL_NS ? watchdog_ns : STATUS_INTERVAL_NS;
	watch_arm_timer(service->timer, service->interval_ns);
	return service;
}

void
service_free(struct service *service)
{
	if (service == NULL)
		return;
	if (service->ready)
		notify_send(service->notify, "STOPPING=1");
	watch_free(service->timer);
	notify_close(service->notify);
	free(service);
}

void
service_notify_ready(struct service *service)
{
	if (!service->ready)
		notify_send(service->notify, "READY=1");
	service->ready = true;
}

void
service_set_workers(struct service *service, struct workers *workers)
{
	service->workers = workers;
}

void
service_clear_workers(struct service *service)
{
	if (service != NULL)
		service->workers = NULL;
}

void
service_notify_reloading(struct service *service)
{
	notify_send_reloading(service->notify);
}

void
service_notify_reloaded(struct service *service)
{
	notify_send(service->notify, "READY=1");
}
