/* SPDX-License-Identifier: BSD-2-Clause */
/* The flight memory as a listener of an observer: which events and packets become notes. */
#ifndef NETOBS_OBSERVE_RING_LISTENER_H
#define NETOBS_OBSERVE_RING_LISTENER_H

struct observer;
struct owner_lookup;
struct ring;

/* From now on the frames of the observer are kept in the ring; `owners` finds the processes for its notes, NULL if
 * they are not looked up.  All are borrowed. */
void ring_listener_attach(struct ring *ring, struct observer *observer, struct owner_lookup *owners);

/* Like ring_listener_attach() without owners, also for frames that are not observed because they are the copies of
 * loopback frames: so each frame of the input is in the ring. */
void ring_listener_attach_with_copies(struct ring *ring, struct observer *observer);

#endif
