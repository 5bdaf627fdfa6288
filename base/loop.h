/* SPDX-License-Identifier: BSD-2-Clause */
/* The event loop: descriptors, timers and signals.  Only loop.c uses libevent. */
#ifndef NETOBS_BASE_LOOP_H
#define NETOBS_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"

struct loop;
struct wakeup;
struct watch; /* a watched descriptor, timer or signal */

typedef void loop_callback(void *context);

/* NULL, with a message logged, on failure.  libevent's own messages go to the log. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* From now on callbacks run with this lock held.  loop_run() must be called with the lock held and releases it while
 * waiting.  Call it before anything is watched. */
void loop_set_lock(struct loop *loop, struct fair_lock *lock);

/* Calls back whenever `fd` is readable.  NULL if it cannot be watched (a plain file, no memory). */
struct watch *loop_watch_readable(struct loop *loop, int fd, loop_callback *callback, void *context);

/* Calls back whenever `fd` is writable. */
struct watch *loop_watch_writable(struct loop *loop, int fd, loop_callback *callback, void *context);

/* Creates a timer, not armed.  NULL if out of memory. */
struct watch *loop_watch_timer(struct loop *loop, loop_callback *callback, void *context);
bool watch_arm_timer(struct watch *timer, uint64_t ns);
void watch_disarm_timer(struct watch *timer);

/* Calls back when signal `number` has arrived, outside of signal context: once for all that have arrived since the last
 * turn of the loop.  NULL if it cannot be watched. */
struct watch *loop_watch_signal(struct loop *loop, int number, loop_callback *callback, void *context);

/* As loop_watch_signal(), for a signal that ends the process, which goes before all other events: from its arrival on,
 * loop_stop_requested() is true, even while the loop does not run.  Code that waits outside the loop checks it. */
struct watch *loop_watch_stop_signal(struct loop *loop, int number, loop_callback *callback, void *context);
bool loop_stop_requested(void);

/* Number of such signals so far. */
unsigned loop_stop_requests(void);

/* Frees a watch of any kind; NULL is allowed. */
void watch_free(struct watch *watch);

/* A wakeup that any thread may send: the callback runs in the loop's thread, once for one or more wakeups.  NULL if
 * out of memory or descriptors. */
struct wakeup *wakeup_new(struct loop *loop, loop_callback *callback, void *context);
void wakeup_send(struct wakeup *wakeup);
void wakeup_free(struct wakeup *wakeup);

/* These functions handle events, and return at once if the loop has been stopped. */
void loop_run(struct loop *loop);		    /* until it is stopped */
void loop_poll(struct loop *loop);		    /* handles pending events once, without waiting */
bool loop_sleep(struct loop *loop, uint64_t ns);    /* for `ns`; false if the loop was stopped */
bool loop_wait_readable(struct loop *loop, int fd); /* until `fd` is readable; false if the loop was stopped */

void loop_stop(struct loop *loop);
bool loop_is_stopped(const struct loop *loop);

/* Name and version of the event library.  Constant. */
const char *loop_library_version(void);

#endif
