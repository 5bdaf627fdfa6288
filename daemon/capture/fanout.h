/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several capture sockets share the frames of an interface: each frame goes to one of them (PACKET_FANOUT, packet(7)).
 *
 * Which one is the kernel's choice by a hash of addresses, protocol and ports that is the same for both directions
 * (PACKET_FANOUT_HASH; symmetric since Linux 4.8), so a connection is seen whole by one.  Fragments go by their
 * addresses alone, and so perhaps to another one than the whole packets between the same ports.
 *
 * One object for all threads of a run; its functions may be called by any of them.
 */
#ifndef NETOBS_DAEMON_CAPTURE_FANOUT_H
#define NETOBS_DAEMON_CAPTURE_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fanout;

/* For so many configured interfaces.  NULL if memory cannot be had. */
struct fanout *fanout_new(size_t interfaces);
void fanout_free(struct fanout *fanout);

/* A bound capture socket of the configured interface number `place`, which is `ifindex` now (0: "any"), shares with the
 * others of that place.  Until then it was given every frame.  The group's number; negative with errno if the kernel
 * refuses. */
int fanout_join(struct fanout *fanout, size_t place, uint32_t ifindex, int fd);

/* A socket that had joined this group is about to be closed. */
void fanout_leave(struct fanout *fanout, size_t place, int group);

#endif
