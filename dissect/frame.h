/* SPDX-License-Identifier: BSD-2-Clause */
/* A captured frame and the interface it was captured on. */
#ifndef NETOBS_DISSECT_FRAME_H
#define NETOBS_DISSECT_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The interface of a frame.  Owned by the input; valid as long as frames of that input may be observed. */
struct interface {
	char name[16];	    /* as the kernel or the capture file calls it, "" if unknown */
	uint32_t ifindex;   /* 0 if unknown (files) */
	uint64_t netns;	    /* inode of the network namespace, 0 if unknown (files) */
	bool loopback;	    /* every frame is both sent and received by this host */
	bool has_mac;	    /* mac is set */
	uint8_t mac[6];	    /* link-layer address of the interface */
};

struct frame {
	const uint8_t *data;		   /* caplen bytes, owned by the input; valid until the frame has been
					    * observed */
	const struct interface *interface; /* never NULL */
	uint64_t ts;			   /* packet time, ns since the epoch */
	uint32_t caplen;		   /* bytes captured */
	uint32_t len;			   /* bytes on the wire */
	int dlt;			   /* link type, a DLT_ value of <pcap/dlt.h> */
};

/* Copies bytes of a frame.  For a memcpy() of unknown length compilers emit `rep movs`, whose startup costs more than
 * copying a small frame. */
static inline void
frame_copy_bytes(uint8_t *to, const uint8_t *from, uint32_t length)
{
	enum { STEP = 32 };

	if (length < STEP) {
		memcpy(to, from, length);
		return;
	}
	for (uint32_t at = 0; at + STEP <= length; at += STEP)
		memcpy(to + at, from + at, STEP);
	memcpy(to + length - STEP, from + length - STEP, STEP);
}

#endif
