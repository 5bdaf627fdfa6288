/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The geometry of the ring that libpcap shares with the kernel (packet(7), PACKET_RX_RING).  libpcap does not
 * report it; the kernel does (sock_diag(7), packet_diag).
 */
#ifndef NETOBS_CAPTURE_RING_GEOMETRY_H
#define NETOBS_CAPTURE_RING_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

struct ring_geometry {
	uint32_t block_size; /* bytes */
	uint32_t block_count;
	uint32_t reserve; /* free bytes in front of each frame, PACKET_RESERVE */
};

/*
 * Queries the kernel for the ring of the packet socket `fd`.  False if the socket has no ring of version 3, or if there
 * is no reply: Linux without packet_diag, or a system-call filter that rejects the request.
 */
bool ring_geometry_query(int fd, struct ring_geometry *geometry);

#endif
