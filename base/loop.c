/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/loop.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"

/* Signals that end the process go before all other events. */
enum { PRIORITY_STOP, PRIORITY_USUAL, PRIORITIES };

struct loop {
	struct event_base *base;
	struct fair_lock *lock; /* NULL: none */
	bool stopped;
};

struct watch {
	struct loop *loop;
	struct event *event;
	struct event *signal; /* of a signal, which only makes `event` active; otherwise NULL */
	loop_callback *callback;
	void *context;
};

static struct timeval
timeval_from_ns(uint64_t ns)
{
	/* Rounded up: a timer never fires before its time. */
	uint64_t us = ns / 1000 + (ns % 1000 != 0);

	return (struct timeval){.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)};
}

static void
loop_log_libevent(int severity, const char *message)
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

	event_set_log_callback(loop_log_libevent);
	if (loop != NULL)
		loop->base = event_base_new();
	if (loop == NULL || loop->base == NULL || event_base_priority_init(loop->base, PRIORITIES) < 0) {
		log_error("cannot create an event loop");
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
loop_set_lock(struct loop *loop, struct fair_lock *lock)
{
	loop->lock = lock;
}

/* The callback may free the watch. */
static void
loop_on_event(evutil_socket_t fd, short what, void *context)
{
	struct watch *watch = context;
	struct fair_lock *lock = watch->loop->lock;

	(void)fd;
	(void)what;
	fair_lock_acquire(lock);
	watch->callback(watch->context);
	fair_lock_release(lock);
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
	watch->event = event_new(loop->base, fd, what, loop_on_event, watch);
	if (watch->event != NULL)
		(void)event_priority_set(watch->event, PRIORITY_USUAL);
	/* A timer is armed by watch_arm_timer() only. */
	if (watch->event == NULL || ((what & EV_TIMEOUT) == 0 && event_add(watch->event, NULL) < 0)) {
		watch_free(watch);
		return NULL;
	}
	return watch;
}

struct watch *
loop_watch_readable(struct loop *loop, int fd, loop_callback *callback, void *context)
{
	return watch_new(loop, fd, EV_READ | EV_PERSIST, callback, context);
}

struct watch *
loop_watch_writable(struct loop *loop, int fd, loop_callback *callback, void *context)
{
	return watch_new(loop, fd, EV_WRITE | EV_PERSIST, callback, context);
}

struct watch *
loop_watch_timer(struct loop *loop, loop_callback *callback, void *context)
{
	return watch_new(loop, -1, EV_TIMEOUT, callback, context);
}

bool
watch_arm_timer(struct watch *timer, uint64_t ns)
{
	struct timeval after = timeval_from_ns(ns);

	return event_add(timer->event, &after) == 0;
}

void
watch_disarm_timer(struct watch *timer)
{
	event_del(timer->event);
}

/* libevent calls this once for each signal that has arrived; an event that is active already does not become so
 * again. */
static void
loop_on_signal(evutil_socket_t number, short what, void *context)
{
	const struct watch *watch = context;

	(void)number;
	(void)what;
	event_active(watch->event, EV_TIMEOUT, 1);
}

static struct watch *
watch_new_signal(struct loop *loop, int number, int priority, loop_callback *callback, void *context)
{
	struct watch *watch = watch_new(loop, -1, EV_TIMEOUT, callback, context);

	if (watch == NULL)
		return NULL;
	watch->signal = event_new(loop->base, number, EV_SIGNAL | EV_PERSIST, loop_on_signal, watch);
	if (watch->signal != NULL && event_priority_set(watch->event, priority) == 0 &&
	    event_priority_set(watch->signal, priority) == 0 && event_add(watch->signal, NULL) == 0)
		return watch;
	watch_free(watch);
	return NULL;
}

struct watch *
loop_watch_signal(struct loop *loop, int number, loop_callback *callback, void *context)
{
	return watch_new_signal(loop, number, PRIORITY_USUAL, callback, context);
}

static volatile sig_atomic_t stop_requests;
static void (*libevent_handler)(int);

static void
loop_on_stop_signal(int number)
{
	if (stop_requests < SIG_ATOMIC_MAX)
		stop_requests = stop_requests + 1;
	libevent_handler(number);
}

struct watch *
loop_watch_stop_signal(struct loop *loop, int number, loop_callback *callback, void *context)
{
	struct watch *watch = watch_new_signal(loop, number, PRIORITY_STOP, callback, context);
	struct sigaction action;

	if (watch == NULL || sigaction(number, NULL, &action) != 0)
		return watch;
	libevent_handler = action.sa_handler; /* the same for every signal; it only wakes the loop */
	action.sa_handler = loop_on_stop_signal;
	action.sa_flags &= ~SA_RESTART;
	(void)sigaction(number, &action, NULL);
	return watch;
}

bool
loop_stop_requested(void)
{
	return stop_requests != 0;
}

unsigned
loop_stop_requests(void)
{
	return (unsigned)stop_requests;
}

void
watch_free(struct watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->signal != NULL)
		event_free(watch->signal);
	if (watch->event != NULL)
		event_free(watch->event);
	free(watch);
}

/* ---------------------------------------------------------------------------------------------------------- wakeups */

struct wakeup {
	int fd;
	struct watch *watch;
	loop_callback *callback;
	void *context;
};

static void
wakeup_on_readable(void *context)
{
	struct wakeup *wakeup = context;
	uint64_t times;

	(void)!read(wakeup->fd, &times, sizeof times); /* resets the descriptor */
	wakeup->callback(wakeup->context);
}

struct wakeup *
wakeup_new(struct loop *loop, loop_callback *callback, void *context)
{
	struct wakeup *wakeup = calloc(1, sizeof *wakeup);

	if (wakeup == NULL)
		return NULL;
	wakeup->callback = callback;
	wakeup->context = context;
	wakeup->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wakeup->fd >= 0)
		wakeup->watch = loop_watch_readable(loop, wakeup->fd, wakeup_on_readable, wakeup);
	if (wakeup->watch != NULL)
		return wakeup;
	wakeup_free(wakeup);
	return NULL;
}

void
wakeup_send(struct wakeup *wakeup)
{
	(void)!write(wakeup->fd, &(uint64_t){1}, sizeof(uint64_t)); /* fails only if the event is already pending */
}

void
wakeup_free(struct wakeup *wakeup)
{
	if (wakeup == NULL)
		return;
	watch_free(wakeup->watch);
	if (wakeup->fd >= 0)
		close(wakeup->fd);
	free(wakeup);
}

/* ---------------------------------------------------------------------------------------------------------- running */

void
loop_run(struct loop *loop)
{
	fair_lock_release(loop->lock);
	while (!loop->stopped)
		event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
	fair_lock_acquire(loop->lock);
}

void
loop_poll(struct loop *loop)
{
	/* Without EVLOOP_ONCE libevent returns when nothing is pending, which a busy client can prevent for ever. */
	if (!loop->stopped)
		event_base_loop(loop->base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
}

static void
loop_set_flag(evutil_socket_t fd, short what, void *context)
{
	bool *flag = context;

	(void)fd;
	(void)what;
	*flag = true;
}

/* Runs until the event has occurred or the loop is stopped. */
static bool
loop_run_until(struct loop *loop, int fd, short what, const struct timeval *timeout)
{
	bool occurred = false;
	struct event *event = event_new(loop->base, fd, what, loop_set_flag, &occurred);

	/* Objects that cannot be watched, such as plain files, are always ready. */
	if (event == NULL || event_add(event, timeout) < 0)
		occurred = true;
	while (!occurred && !loop->stopped)
		event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
	if (event != NULL)
		event_free(event);
	return !loop->stopped;
}

bool
loop_sleep(struct loop *loop, uint64_t ns)
{
	struct timeval timeout = timeval_from_ns(ns);

	return loop_run_until(loop, -1, EV_TIMEOUT, &timeout);
}

bool
loop_wait_readable(struct loop *loop, int fd)
{
	return loop_run_until(loop, fd, EV_READ, NULL);
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
	event_base_loopbreak(loop->base);
}

bool
loop_is_stopped(const struct loop *loop)
{
	return loop->stopped;
}

const char *
loop_library_version(void)
{
	return "libevent " LIBEVENT_VERSION;
}
