/* SPDX-License-Identifier: BSD-2-Clause */
/* The event loop: descriptors, timers and signals.  loop.c is the only file that knows libevent. */
#ifndef NETOBS_DAEMON_BASE_LOOP_H
#define NETOBS_DAEMON_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fair_lock.h"

struct loop;
struct bell;
struct watch; /* a descriptor, a timer or a signal that somebody waits for */

typedef void loop_callback(void *context);

/* NULL, and a message is logged, if there can be no loop.  libevent's own messages go to the log. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* From now on callbacks are made within this guard; loop_run() is to be called within it too, and waits without it.  To
 * be called before anything is watched. */
void loop_guard(struct loop *loop, struct guard *guard);

/* Calls back whenever `fd` is readable.  NULL if it cannot be watched (a plain file, no memory). */
struct watch *loop_watch_fd(struct loop *loop, int fd, loop_callback *callback, void *context);

/* The same for whenever `fd` takes bytes. */
struct watch *loop_watch_writable(struct loop *loop, int fd, loop_callback *callback, void *context);

/* A timer; it does nothing until it is armed.  NULL if memory cannot be had. */
struct watch *loop_timer(struct loop *loop, loop_callback *callback, void *context);
bool timer_arm(struct watch *timer, uint64_t ns);
void timer_disarm(struct watch *timer);

/* Calls back, outside of signal context, when signal `number` has come.  NULL if it cannot be watched. */
struct watch *loop_signal(struct loop *loop, int number, loop_callback *callback, void *context);

/* Ends any of the three; NULL is fine. */
void watch_free(struct watch *watch);

/* A bell that any thread may ring: the callback is made in the loop's, once for one or more times.  NULL if memory or
 * descriptors cannot be had. */
struct bell *loop_bell(struct loop *loop, loop_callback *callback, void *context);
void bell_ring(struct bell *bell);
void bell_free(struct bell *bell);

/* Each of these handles events, and returns at once when the loop has been stopped. */
void loop_run(struct loop *loop);		    /* until it is stopped */
void loop_poll(struct loop *loop);		    /* what is due now, without waiting */
bool loop_sleep(struct loop *loop, uint64_t ns);    /* for so long; false if it was stopped */
bool loop_wait_fd(struct loop *loop, int fd);	    /* until `fd` is readable; false if it was stopped */

void loop_stop(struct loop *loop);
bool loop_stopped(const struct loop *loop);

/* The library behind it and its version.  Constant. */
const char *loop_library(void);

#endif
