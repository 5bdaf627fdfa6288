/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads frames in place: in the blocks of the ring that libpcap has created (TPACKET_V3, see the kernel's packet_mmap
 * documentation).  libpcap opens and binds the socket, sets filters and reads statistics; it reads no frame of a ring
 * that is read here.  That saves its callback for each frame, and the copy of each frame into a batch.
 *
 * Frames have the link header that libpcap gives them: the VLAN tag that the kernel has taken out is put back, and
 * frames of "any" have a header of LINKTYPE_LINUX_SLL2, both in the free bytes in front of the frame.
 */
#ifndef NETOBS_CAPTURE_PACKET_RING_H
#define NETOBS_CAPTURE_PACKET_RING_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>

#include "dissect/frame.h"

/* libpcap does not report the geometry of the ring that it shares with the kernel (packet(7), PACKET_RX_RING); the
 * kernel does (sock_diag(7), packet_diag). */
struct ring_geometry {
	uint32_t block_size; /* bytes */
	uint32_t block_count;
	uint32_t reserve; /* free bytes in front of each frame, PACKET_RESERVE */
};

struct packet_ring;

/*
 * Maps the ring of a capture from which no frame was read yet.  `geometry` is that of an earlier ring with the same
 * options, or, with block_size 0, unknown: then the kernel is queried and the result stored there.  NULL if libpcap
 * must read: the ring is not TPACKET_V3 (as in immediate mode), its geometry is unknown or another one, or the link
 * type is neither Ethernet nor SLL2.  With a filter at the start it is not called (live_interface.c).
 */
struct packet_ring *packet_ring_map(pcap_t *pcap, struct ring_geometry *geometry);

/* Call it before pcap_close().  NULL has no effect. */
void packet_ring_unmap(struct packet_ring *ring);

/* Whether the present block is complete, so that its frames can be taken.  Until then it belongs to the kernel. */
bool packet_ring_is_ready(const struct packet_ring *ring);

/*
 * Takes frames from the present block, which is ready: at most `most`, oldest first.  Sets all their fields except
 * interface.  They are valid until packet_ring_release().
 */
unsigned packet_ring_take(struct packet_ring *ring, struct frame *frames, unsigned most);

/* Returns the present block to the kernel if all its frames have been taken; the next one becomes the present block. */
void packet_ring_release(struct packet_ring *ring);

/* Returns all blocks that are ready to the kernel, without their frames being taken. */
void packet_ring_discard(struct packet_ring *ring);

/* Whether the interface still exists.  Clears the socket's error, because of which epoll reports it as readable. */
bool packet_ring_check(struct packet_ring *ring);

#endif
