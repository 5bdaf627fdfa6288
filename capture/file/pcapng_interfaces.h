/* SPDX-License-Identifier: BSD-2-Clause */
/* The interfaces of a section of a pcapng file: link type, snapshot length, name and time stamps. */
#ifndef NETOBS_CAPTURE_FILE_PCAPNG_INTERFACES_H
#define NETOBS_CAPTURE_FILE_PCAPNG_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/file/frame_reader.h"
#include "dissect/frame.h"

/* Most interfaces of a section, and most different names of interfaces in a file. */
#define PCAPNG_INTERFACES_MAX 8192

/* Finest resolutions of time stamps: 10^-19 and 2^-63 seconds. */
#define PCAPNG_DECIMAL_MAX 19
#define PCAPNG_BINARY_MAX  63
#define PCAPNG_BINARY	   0x80 /* bit of if_tsresol: a power of two */

struct pcapng_interface {
	const struct interface *interface;
	int link_type;		  /* a DLT_ value */
	uint32_t snapshot_length; /* 0: unlimited */
	/* Time stamps below the limit are multiplied, then the offset is added; 0: others only. */
	uint64_t simple_limit, simple_offset;
	uint32_t multiplier;
	uint8_t resolution;		     /* if_tsresol */
	int64_t offset;			     /* if_tsoffset, seconds */
	struct frame_reader_dropped dropped; /* of its latest statistics */
};

struct pcapng_interfaces {
	struct pcapng_interface *list;
	size_t count, allocated;
	struct interface **names; /* hash table of the names of all sections; NULL: none yet */
	size_t name_count;
};

/* The interface of a name of `length` bytes, cut to the size of the field; bytes that are not printable become `?'.
 * NULL if out of memory or if there are too many. */
const struct interface *pcapng_interfaces_name(struct pcapng_interfaces *interfaces, const uint8_t *name,
					       size_t length);

/* Adds an interface to the section.  False if out of memory or if there are too many. */
bool pcapng_interfaces_add(struct pcapng_interfaces *interfaces, const struct pcapng_interface *interface);
void pcapng_interfaces_free(struct pcapng_interfaces *interfaces);

/* Sets the simple conversion, by resolution and offset; the resolution must not be finer than the finest. */
void pcapng_interface_set_clock(struct pcapng_interface *interface);

/* Nanoseconds since the epoch, limited to what 64 bits hold. */
uint64_t pcapng_interface_convert_time(const struct pcapng_interface *interface, uint64_t stamp);

static inline uint64_t
pcapng_interface_time(const struct pcapng_interface *interface, uint64_t stamp)
{
	if (stamp < interface->simple_limit)
		return stamp * interface->multiplier + interface->simple_offset;
	return pcapng_interface_convert_time(interface, stamp);
}

#endif
