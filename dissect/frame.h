/* SPDX-License-Identifier: BSD-2-Clause */
/* A captured frame and the interface it was captured on. */
#ifndef NETOBS_DISSECT_FRAME_H
#define NETOBS_DISSECT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
