/* SPDX-License-Identifier: BSD-2-Clause */
/* What the capture delivers: a frame and the interface it was seen on. */
#ifndef NETOBS_DISSECT_FRAME_H
#define NETOBS_DISSECT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* Where frames come from.  Owned by the input that reads it; lives as long as frames of it may be observed. */
struct interface {
	char name[16];	    /* as the kernel or the capture file calls it, "" if unknown */
	uint32_t ifindex;   /* 0 if unknown (files) */
	uint64_t netns;	    /* inode of the network namespace, 0 if unknown (files) */
	bool loopback;	    /* frames are sent and received by this same host */
	bool has_mac;	    /* mac is set */
	uint8_t mac[6];	    /* its own link-layer address */
};

struct frame {
	const uint8_t *data;		   /* caplen bytes; the input's memory, valid until it has been observed */
	const struct interface *interface; /* never NULL */
	uint64_t ts;			   /* capture time, ns since the epoch */
	uint32_t caplen;		   /* bytes captured */
	uint32_t len;			   /* bytes on the wire */
	int dlt;			   /* link type, a DLT_ value of <pcap/dlt.h> */
};

#endif
