/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/loop.h"

#include <event2/event.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/log.h"

struct loop {
	struct event_base *base;
	struct guard *guard; /* NULL: none */
	bool stopped;
};

struct watch {
	struct loop *loop;
	struct event *event;
	loop_callback *callback;
	void *context;
};

static struct timeval
timeval_of(uint64_t ns)
{
	/* Rounded up: a timer never fires before its time. */
	uint64_t us = ns / 1000 + (ns % 1000 != 0);

	return (struct timeval){.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)};
}

static void
log_libevent(int severity, const char *message)
{
	if (severity == EVENT_LOG_ERR)
		log_error("event loop: %s", message);
	else if (severity == EVENT_LOG_WARN)
		log_warning("event loop: %s", message);
}

struct loop *
loop_new(void)
{
	struct loop *loop = calloc(1, sizeof *loop);

	event_set_log_callback(log_libevent);
	if (loop != NULL)
		loop->base = event_base_new();
	if (loop == NULL || loop->base == NULL) {
		log_error("cannot make an event loop");
		free(loop);
		return NULL;
	}
	return loop;
}

void
loop_free(struct loop *loop)
{
	if (loop == NULL)
		return;
	event_base_free(loop->base);
	free(loop);
}

void
loop_guard(struct loop *loop, struct guard *guard)
{
	loop->guard = guard;
}

/* The callback may free the watch. */
static void
happened(evutil_socket_t fd, short what, void *context)
{
	struct watch *watch = context;
	struct guard *guard = watch->loop->guard;

	(void)fd;
	(void)what;
	guard_enter(guard);
	watch->callback(watch->context);
	guard_leave(guard);
}

static struct watch *
watch_new(struct loop *loop, int fd, short what, loop_callback *callback, void *context)
{
	struct watch *watch = calloc(1, sizeof *watch);

	if (watch == NULL)
		return NULL;
	watch->loop = loop;
	watch->callback = callback;
	watch->context = context;
	watch->event = event_new(loop->base, fd, what, happened, watch);
	/* A timer is armed by timer_arm() only. */
	if (watch->event == NULL || ((what & EV_TIMEOUT) == 0 && event_add(watch->event, NULL) < 0)) {
		watch_free(watch);
		return NULL;
	}
	return watch;
}

struct watch *
loop_watch_fd(struct loop *loop, int fd, loop_callback *callback, void *context)
{
	return watch_new(loop, fd, EV_READ | EV_PERSIST, callback, context);
}

struct watch *
loop_watch_writable(struct loop *loop, int fd, loop_callback *callback, void *context)
{
	return watch_new(loop, fd, EV_WRITE | EV_PERSIST, callback, context);
}

struct watch *
loop_timer(struct loop *loop, loop_callback *callback, void *context)
{
	return watch_new(loop, -1, EV_TIMEOUT, callback, context);
}

bool
timer_arm(struct watch *timer, uint64_t ns)
{
	struct timeval after = timeval_of(ns);

	return event_add(timer->event, &after) == 0;
}

void
timer_disarm(struct watch *timer)
{
	event_del(timer->event);
}

struct watch *
loop_signal(struct loop *loop, int number, loop_callback *callback, void *context)
{
	return watch_new(loop, number, EV_SIGNAL | EV_PERSIST, callback, context);
}

void
watch_free(struct watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->event != NULL)
		event_free(watch->event);
	free(watch);
}

/* ------------------------------------------------------------------------------------------------------------ bells */

struct bell {
	int fd;
	struct watch *watch;
	loop_callback *callback;
	void *context;
};

static void
rang(void *context)
{
	struct bell *bell = context;
	uint64_t times;

	(void)!read(bell->fd, &times, sizeof times); /* resets the descriptor */
	bell->callback(bell->context);
}

struct bell *
loop_bell(struct loop *loop, loop_callback *callback, void *context)
{
	struct bell *bell = calloc(1, sizeof *bell);

	if (bell == NULL)
		return NULL;
	bell->callback = callback;
	bell->context = context;
	bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell->fd >= 0)
		bell->watch = loop_watch_fd(loop, bell->fd, rang, bell);
	if (bell->watch != NULL)
		return bell;
	bell_free(bell);
	return NULL;
}

void
bell_ring(struct bell *bell)
{
	(void)!write(bell->fd, &(uint64_t){1}, sizeof(uint64_t)); /* fails only if the event is already pending */
}

void
bell_free(struct bell *bell)
{
	if (bell == NULL)
		return;
	watch_free(bell->watch);
	if (bell->fd >= 0)
		close(bell->fd);
	free(bell);
}

/* ---------------------------------------------------------------------------------------------------------- running */

void
loop_run(struct loop *loop)
{
	guard_leave(loop->guard);
	while (!loop->stopped)
		event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
	guard_enter(loop->guard);
}

void
loop_poll(struct loop *loop)
{
	if (!loop->stopped)
		event_base_loop(loop->base, EVLOOP_NONBLOCK);
}

static void
note_flag(evutil_socket_t fd, short what, void *context)
{
	bool *flag = context;

	(void)fd;
	(void)what;
	*flag = true;
}

/* Runs until the event has come or the loop is stopped. */
static bool
loop_until(struct loop *loop, int fd, short what, const struct timeval *timeout)
{
	bool come = false;
	struct event *event = event_new(loop->base, fd, what, note_flag, &come);

	/* Objects that cannot be watched, such as plain files, are always ready. */
	if (event == NULL || event_add(event, timeout) < 0)
		come = true;
	while (!come && !loop->stopped)
		event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
	if (event != NULL)
		event_free(event);
	return !loop->stopped;
}

bool
loop_sleep(struct loop *loop, uint64_t ns)
{
	struct timeval timeout = timeval_of(ns);

	return loop_until(loop, -1, EV_TIMEOUT, &timeout);
}

bool
loop_wait_fd(struct loop *loop, int fd)
{
	return loop_until(loop, fd, EV_READ, NULL);
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
	event_base_loopbreak(loop->base);
}

bool
loop_stopped(const struct loop *loop)
{
	return loop->stopped;
}

const char *
loop_library(void)
{
	return "libevent " LIBEVENT_VERSION;
}
