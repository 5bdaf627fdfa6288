/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads frames where the kernel has put them: in the blocks of the ring that libpcap has made (TPACKET_V3, see the
 * kernel's packet_mmap documentation).  libpcap opens the socket, binds it, sets filters and counts; it reads nothing
 * from a ring that is read here.  That saves its call for each frame, and the copy of each frame into a batch.
 *
 * Frames have the link header that libpcap gives them: the VLAN tag that the kernel has taken out is put back, and
 * frames of "any" have a header of LINKTYPE_LINUX_SLL2, both in the free bytes in front of the frame.
 */
#ifndef NETOBS_DAEMON_CAPTURE_PACKET_RING_H
#define NETOBS_DAEMON_CAPTURE_PACKET_RING_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "daemon/capture/ring_geometry.h"
#include "dissect/frame.h"

struct packet_ring;

/*
 * Maps the ring of this capture, from which nothing was read yet.  `geometry` is that of an earlier ring with the same
 * options; if its block_size is 0, the kernel is asked and the answer stored there.  NULL if libpcap must read, because
 * the ring is another one than TPACKET_V3 (as in immediate mode) or the link type neither Ethernet nor SLL2.
 */
struct packet_ring *packet_ring_map(pcap_t *pcap, struct ring_geometry *geometry);

/* Before pcap_close().  NULL has no effect. */
void packet_ring_unmap(struct packet_ring *ring);

/* Whether the present block is complete: its frames can be taken.  Until then the kernel fills it. */
bool packet_ring_is_ready(const struct packet_ring *ring);

/*
 * Takes frames from the present block, which is ready: at most `most`, oldest first.  Sets all their fields except
 * interface.  They are valid until packet_ring_release().
 */
unsigned packet_ring_take(struct packet_ring *ring, struct frame *frames, unsigned most);

/* Gives the block back to the kernel if all its frames have been taken; the next one is the present block then. */
void packet_ring_release(struct packet_ring *ring);

/* Gives all blocks that are ready back, with the frames in them. */
void packet_ring_discard(struct packet_ring *ring);

/* Whether the interface still exists.  Clears the error for which the socket is reported as readable. */
bool packet_ring_check(struct packet_ring *ring);

#endif
