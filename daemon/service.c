/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/service.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/stats/stats.h"

/* ---------------------------------------------------------------------------------------------------- notifications */

struct notify {
	int fd;
	uint64_t watchdog_ns;
};

/* Half of $WATCHDOG_USEC, 0 unless the variable is meant for this process. */
static uint64_t
notify_read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (usec == NULL || (pid != NULL && strtoll(pid, NULL, 10) != (long long)getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000 / 2;
}

static int
notify_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	int fd;

	if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
		errno = EINVAL;
		return -1;
	}
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* an abstract address */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	length += offsetof(struct sockaddr_un, sun_path);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, (socklen_t)length) < 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

struct notify *
notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct notify *notify;

	if (path == NULL || (notify = calloc(1, sizeof *notify)) == NULL)
		return NULL;
	notify->fd = notify_connect(path);
	notify->watchdog_ns = notify_read_watchdog();
	if (notify->fd >= 0)
		return notify;
	log_warning("cannot notify the service manager through %s: %s", path, strerror(errno));
	free(notify);
	return NULL;
}

void
notify_close(struct notify *notify)
{
	if (notify == NULL)
		return;
	close(notify->fd);
	free(notify);
}

void
notify_send(struct notify *notify, const char *format, ...)
{
	char text[512];
	va_list arguments;
	int length;

	if (notify == NULL)
		return;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < sizeof text)
		(void)send(notify->fd, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
notify_send_reloading(struct notify *notify)
{
	notify_send(notify, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)clock_monotonic_ns() / 1000);
}

uint64_t
notify_watchdog_interval(const struct notify *notify)
{
	return notify != NULL ? notify->watchdog_ns : 0;
}

/* ------------------------------------------------------------------------------------------------------ the service */

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
		log_out_of_memory();
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
