/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distributes the frames of an interface over several capture sockets (PACKET_FANOUT, packet(7)).  The kernel selects
 * the socket by a hash of addresses, protocol and ports that is equal in both directions (PACKET_FANOUT_HASH; symmetric
 * since Linux 4.8), so one socket receives all frames of a connection.  Fragments are hashed by addresses only and may
 * go to another socket than the whole packets of the same hosts.
 *
 * One object per run, shared by all workers; each of them may call its functions.
 */
#ifndef NETOBS_CAPTURE_FANOUT_H
#define NETOBS_CAPTURE_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fanout;

/* For `interfaces` configured interfaces.  NULL if out of memory. */
struct fanout *fanout_new(size_t interfaces);
void fanout_free(struct fanout *fanout);

/* Adds a bound capture socket to the group of the configured interface number `index`, whose interface index is now
 * `ifindex` (0: "any").  Until then the socket received every frame.  Returns the number of the group; negative with
 * errno if the kernel refuses. */
int fanout_join(struct fanout *fanout, size_t index, uint32_t ifindex, int fd);

/* Call it before a socket of the group is closed. */
void fanout_leave(struct fanout *fanout, size_t index, int group);

#endif
