/* SPDX-License-Identifier: BSD-2-Clause */
/* The interfaces of a section of a pcapng file: link type, snapshot length, name and time stamps. */
#include <pcap/dlt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/file/frame_reader.h"
#include "capture/file/frame_reader_internal.h"
#include "dissect/dissect.h"
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

/* Adds an interface to the section.  False if out of memory or if there are too many. */

#define NANOSECONDS 1000000000u

/* Largest time in whole seconds that 64 bits of nanoseconds hold with any fraction. */
#define SECONDS_MAX (UINT64_MAX / NANOSECONDS - 1)

/* Cells of the hash table, a power of two. */
#define NAME_CELLS (2u * PCAPNG_INTERFACES_MAX)

/* FNV-1a. */
static uint32_t
pcapng_interfaces_hash(const char *name)
{
	uint32_t hash = 0x811c9dc5;

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 0x01000193;
	return hash ^ hash >> 16;
}

/* The cell of a name, or the empty one where it belongs. */
static struct interface **
pcapng_interfaces_find(struct pcapng_interfaces *interfaces, const char *name)
{
	uint32_t cell = pcapng_interfaces_hash(name) % NAME_CELLS;

	while (interfaces->names[cell] != NULL && strcmp(interfaces->names[cell]->name, name) != 0)
		cell = (cell + 1) % NAME_CELLS;
	return &interfaces->names[cell];
}

/* The interface of a name of `length` bytes, cut to the size of the field; bytes that are not printable become `?'.
 * NULL if out of memory or if there are too many. */
static const struct interface *
pcapng_interfaces_name(struct pcapng_interfaces *interfaces, const uint8_t *name, size_t length)
{
	struct interface wanted = {.name = ""}, **cell;

	for (size_t i = 0; i < length && i < sizeof wanted.name - 1 && name[i] != '\0'; i++)
		wanted.name[i] = name[i] >= ' ' && name[i] <= '~' ? (char)name[i] : '?';
	if (interfaces->names == NULL)
		interfaces->names = calloc(NAME_CELLS, sizeof interfaces->names[0]);
	if (interfaces->names == NULL)
		return NULL;
	cell = pcapng_interfaces_find(interfaces, wanted.name);
	if (*cell != NULL)
		return *cell;
	if (interfaces->name_count == PCAPNG_INTERFACES_MAX)
		return NULL;
	*cell = malloc(sizeof **cell);
	if (*cell == NULL)
		return NULL;
	**cell = wanted;
	interfaces->name_count++;
	return *cell;
}

/* Adds an interface to the section.  False if out of memory or if there are too many. */
static bool
pcapng_interfaces_add(struct pcapng_interfaces *interfaces, const struct pcapng_interface *interface)
{
	if (interfaces->count == PCAPNG_INTERFACES_MAX)
		return false;
	if (interfaces->count == interfaces->allocated) {
		size_t size = interfaces->allocated > 0 ? 2 * interfaces->allocated : 16;
		struct pcapng_interface *list = realloc(interfaces->list, size * sizeof *list);

		if (list == NULL)
			return false;
		interfaces->list = list;
		interfaces->allocated = size;
	}
	interfaces->list[interfaces->count++] = *interface;
	return true;
}

static void
pcapng_interfaces_free(struct pcapng_interfaces *interfaces)
{
	for (size_t i = 0; interfaces->names != NULL && i < NAME_CELLS; i++)
		free(interfaces->names[i]);
	free(interfaces->names);
	free(interfaces->list);
}

static uint64_t
pcapng_power_of_ten(unsigned exponent)
{
	uint64_t power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* Sets the simple conversion, by resolution and offset; the resolution must not be finer than the finest. */
static void
pcapng_interface_set_clock(struct pcapng_interface *interface)
{
	interface->simple_limit = 0;
	if (interface->resolution > 9 || interface->offset < 0 || interface->offset > (int64_t)SECONDS_MAX)
		return;
	interface->multiplier = (uint32_t)pcapng_power_of_ten(9 - interface->resolution);
	interface->simple_offset = (uint64_t)interface->offset * NANOSECONDS;
	interface->simple_limit = (SECONDS_MAX * NANOSECONDS - interface->simple_offset) / interface->multiplier;
}

/* Nanoseconds of `fraction` / 2^`bits` seconds, rounded down. */
static uint64_t
pcapng_binary_fraction(uint64_t fraction, unsigned bits)
{
	uint64_t high = fraction >> 32, low = fraction & UINT32_MAX;

	if (bits <= 32)
		return fraction * NANOSECONDS >> bits;
	return (high * NANOSECONDS + (low * NANOSECONDS >> 32)) >> (bits - 32);
}

/* Adds the offset to seconds, within what can be represented. */
static uint64_t
pcapng_interface_add_offset(const struct pcapng_interface *interface, uint64_t seconds, uint64_t ns)
{
	uint64_t back = interface->offset < 0 ? -(uint64_t)interface->offset : 0;

	if (back > seconds)
		return 0;
	seconds -= back;
	if (interface->offset > 0)
		seconds = seconds < SECONDS_MAX && (uint64_t)interface->offset < SECONDS_MAX
			      ? seconds + (uint64_t)interface->offset
			      : SECONDS_MAX;
	return (seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * NANOSECONDS + ns;
}

/* Nanoseconds since the epoch, limited to what 64 bits hold. */
static uint64_t
pcapng_interface_convert_time(const struct pcapng_interface *interface, uint64_t stamp)
{
	unsigned exponent = interface->resolution & ~(unsigned)PCAPNG_BINARY;
	uint64_t seconds, ns, units;

	if ((interface->resolution & PCAPNG_BINARY) != 0) {
		seconds = stamp >> exponent;
		ns = pcapng_binary_fraction(stamp & ((UINT64_C(1) << exponent) - 1), exponent);
	} else {
		units = pcapng_power_of_ten(exponent);
		seconds = stamp / units;
		ns = exponent > 9 ? stamp % units / pcapng_power_of_ten(exponent - 9)
				  : stamp % units * pcapng_power_of_ten(9 - exponent);
	}
	return pcapng_interface_add_offset(interface, seconds, ns);
}

static inline uint64_t
pcapng_interface_time(const struct pcapng_interface *interface, uint64_t stamp)
{
	if (stamp < interface->simple_limit)
		return stamp * interface->multiplier + interface->simple_offset;
	return pcapng_interface_convert_time(interface, stamp);
}

/* ---------------------------------------------------------------------------------------------------- pcapng reader */

/* Reads pcapng files: sections of either byte order; interface description, packet, simple packet, enhanced packet and
 * interface statistics blocks.  Other blocks are skipped. */

#define BYTE_ORDER_MAGIC 0x1a2b3c4du

/* Wireshark's name of an interface that was unknown in the file that it has converted. */
#define NO_NAME "Unknown/not available in original file format"

enum pcapng_block {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* obsolete */
	BLOCK_SIMPLE = 3,
	BLOCK_STATISTICS = 5,
	BLOCK_ENHANCED = 6,
};

/* Most blocks without a frame that are read before the first frame: more than the interfaces of a section. */
#define PCAPNG_START_SKIPS (PCAPNG_INTERFACES_MAX + FRAME_READER_SKIPS)

/* Bytes of blocks: of all, and the least of each kind, with the length at both ends. */
enum {
	BLOCK_HEADER = 8,
	BLOCK_MIN = 12,
	SECTION_MIN = 28,
	INTERFACE_HEADER = 16,
	SIMPLE_HEADER = 12,
	PACKET_HEADER = 28,
	STATISTICS_HEADER = 20,
	BLOCK_TRAILER = 4
};

enum pcapng_option { OPTION_END = 0, OPTION_NAME = 2, OPTION_RESOLUTION = 9, OPTION_OFFSET = 14 };

/* Options of interface statistics: frames dropped by the interface, and by the operating system. */
enum pcapng_statistics_option { OPTION_INTERFACE_DROPPED = 5, OPTION_SYSTEM_DROPPED = 7 };

struct pcapng_reader {
	struct frame_reader base;
	bool swapped; /* the section has the other byte order */
	struct pcapng_interfaces interfaces;
	uint64_t time; /* of the last frame; a simple packet block has no time */
};

static inline uint32_t
pcapng_get32(const struct pcapng_reader *reader, const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof value);
	return reader->swapped ? __builtin_bswap32(value) : value;
}

static uint16_t
pcapng_get16(const struct pcapng_reader *reader, const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof value);
	return reader->swapped ? __builtin_bswap16(value) : value;
}

static uint64_t
pcapng_get64(const struct pcapng_reader *reader, const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof value);
	return reader->swapped ? __builtin_bswap64(value) : value;
}

/* ----------------------------------------------------------------------------------------------- interfaces */

/* The DLT_ value of a link type in a file.  They differ for the types whose DLT_ values depend on the system. */
static int
pcapng_link_type(uint16_t type)
{
	switch (type) {
	case 100:
		return DLT_ATM_RFC1483;
	case 101:
		return DLT_RAW;
	case 102:
		return DLT_SLIP_BSDOS;
	case 103:
		return DLT_PPP_BSDOS;
	case 106:
		return DLT_ATM_CLIP;
	default:
		return type;
	}
}

static bool
pcapng_set_resolution(struct pcapng_reader *reader, struct pcapng_interface *interface, uint8_t resolution)
{
	unsigned exponent = resolution & ~(unsigned)PCAPNG_BINARY;
	bool binary = (resolution & PCAPNG_BINARY) != 0;

	interface->resolution = resolution;
	if (exponent <= (binary ? PCAPNG_BINARY_MAX : PCAPNG_DECIMAL_MAX))
		return true;
	return frame_reader_set_error(&reader->base, "time stamps of interface %zu in units of %s^-%u seconds",
				      reader->interfaces.count, binary ? "2" : "10", exponent);
}

/* One option of an interface. */
static bool
pcapng_read_option(struct pcapng_reader *reader, struct pcapng_interface *interface, const uint8_t *value,
		   unsigned code, size_t length)
{
	bool good = true;

	switch (code) {
	case OPTION_NAME:
		if (length >= strlen(NO_NAME) && memcmp(value, NO_NAME, strlen(NO_NAME)) == 0)
			return true;
		interface->interface = pcapng_interfaces_name(&reader->interfaces, value, length);
		return interface->interface != NULL ||
		       frame_reader_set_error(&reader->base, "more than %d names of interfaces, or out of memory",
					      PCAPNG_INTERFACES_MAX);
	case OPTION_RESOLUTION:
		good = length == 1;
		if (good)
			return pcapng_set_resolution(reader, interface, value[0]);
		break;
	case OPTION_OFFSET:
		good = length == 8;
		if (good)
			interface->offset = (int64_t)pcapng_get64(reader, value);
		break;
	default:
		break;
	}
	return good || frame_reader_set_error(&reader->base, "option %u of interface %zu with %zu bytes", code,
					      reader->interfaces.count, length);
}

static bool
pcapng_read_options(struct pcapng_reader *reader, struct pcapng_interface *interface, const uint8_t *at,
		    const uint8_t *end)
{
	while (end - at >= 4) {
		unsigned code = pcapng_get16(reader, at);
		size_t length = pcapng_get16(reader, at + 2), padded = (length + 3) & ~(size_t)3;

		at += 4;
		if (code == OPTION_END)
			break;
		if (padded > (size_t)(end - at))
			return frame_reader_set_error(&reader->base,
						      "option %u of interface %zu with %zu bytes, more than its block",
						      code, reader->interfaces.count, length);
		if (!pcapng_read_option(reader, interface, at, code, length))
			return false;
		at += padded;
	}
	return true;
}

static bool
pcapng_read_interface(struct pcapng_reader *reader, const uint8_t *block, uint32_t length)
{
	struct pcapng_interface interface = {.resolution = 6};

	if (length < INTERFACE_HEADER + BLOCK_TRAILER)
		return frame_reader_set_error(&reader->base, "an interface block of %u bytes", length);
	interface.interface = pcapng_interfaces_name(&reader->interfaces, block, 0);
	interface.link_type = pcapng_link_type(pcapng_get16(reader, block + 8));
	interface.snapshot_length = pcapng_get32(reader, block + 12);
	if (!pcapng_read_options(reader, &interface, block + INTERFACE_HEADER, block + length - BLOCK_TRAILER) ||
	    !frame_reader_add_link_type(&reader->base, interface.link_type))
		return false;
	pcapng_interface_set_clock(&interface);
	return (interface.interface != NULL && pcapng_interfaces_add(&reader->interfaces, &interface)) ||
	       frame_reader_set_error(&reader->base, "more than %d interfaces in a section, or out of memory",
				      PCAPNG_INTERFACES_MAX);
}

/* The statistics of an interface count from the start of its capture on: adds what is new to `sum`. */
static void
pcapng_add_dropped(uint64_t *sum, uint64_t *before, uint64_t now)
{
	if (now > *before)
		*sum += now - *before;
	*before = now;
}

/* Statistics are an extra of a file: a wrong option ends the block, not the file. */
static void
pcapng_read_statistics(struct pcapng_reader *reader, const uint8_t *block, uint32_t length)
{
	struct frame_reader_dropped *sum = &reader->base.dropped, *before;
	const uint8_t *at = block + STATISTICS_HEADER, *end = block + length - BLOCK_TRAILER;
	uint32_t index;

	if (length < STATISTICS_HEADER + BLOCK_TRAILER)
		return;
	index = pcapng_get32(reader, block + 8);
	if (index >= reader->interfaces.count)
		return;
	before = &reader->interfaces.list[index].dropped;
	while (end - at >= 12 && pcapng_get16(reader, at) != OPTION_END) {
		unsigned code = pcapng_get16(reader, at);
		size_t size = pcapng_get16(reader, at + 2), padded = (size + 3) & ~(size_t)3;

		if (padded > (size_t)(end - at) - 4)
			return;
		if (size == 8 && code == OPTION_INTERFACE_DROPPED)
			pcapng_add_dropped(&sum->interface, &before->interface, pcapng_get64(reader, at + 4));
		else if (size == 8 && code == OPTION_SYSTEM_DROPPED)
			pcapng_add_dropped(&sum->system, &before->system, pcapng_get64(reader, at + 4));
		at += 4 + padded;
	}
}

/* -------------------------------------------------------------------------------------------------- packets */

static bool
pcapng_fill_frame(struct pcapng_reader *reader, struct frame *frame, const struct pcapng_interface *interface,
		  uint32_t space)
{
	if (frame->caplen > space || frame->caplen > FRAME_READER_CAPLEN_MAX)
		return frame_reader_set_error(&reader->base,
					      "a frame of %u captured bytes; its block has %u, and at most "
					      "%u are allowed",
					      frame->caplen, space, FRAME_READER_CAPLEN_MAX);
	frame->interface = interface->interface;
	frame->dlt = interface->link_type;
	frame->ts = reader->time;
	return true;
}

/* An enhanced packet block, or the obsolete packet block. */
static bool
pcapng_read_packet(struct pcapng_reader *reader, struct frame *frame, const uint8_t *block, uint32_t length,
		   bool enhanced)
{
	const struct pcapng_interface *interface;
	uint32_t index;

	if (length < PACKET_HEADER + BLOCK_TRAILER)
		return frame_reader_set_error(&reader->base, "a packet block of %u bytes", length);
	index = enhanced ? pcapng_get32(reader, block + 8) : pcapng_get16(reader, block + 8);
	if (index >= reader->interfaces.count)
		return frame_reader_set_error(&reader->base, "a frame of interface %u, and the section has %zu", index,
					      reader->interfaces.count);
	interface = &reader->interfaces.list[index];
	frame->data = block + PACKET_HEADER;
	frame->caplen = pcapng_get32(reader, block + 20);
	frame->len = pcapng_get32(reader, block + 24);
	reader->time = pcapng_interface_time(interface, (uint64_t)pcapng_get32(reader, block + 12) << 32 |
							    pcapng_get32(reader, block + 16));
	return pcapng_fill_frame(reader, frame, interface, length - PACKET_HEADER - BLOCK_TRAILER);
}

/* A simple packet block: of the first interface, at the time of the frame before. */
static bool
pcapng_read_simple(struct pcapng_reader *reader, struct frame *frame, const uint8_t *block, uint32_t length)
{
	const struct pcapng_interface *interface = reader->interfaces.list;

	if (length < SIMPLE_HEADER + BLOCK_TRAILER)
		return frame_reader_set_error(&reader->base, "a simple packet block of %u bytes", length);
	if (reader->interfaces.count == 0)
		return frame_reader_set_error(&reader->base, "a frame of interface 0, and the section has 0");
	frame->data = block + SIMPLE_HEADER;
	frame->len = frame->caplen = pcapng_get32(reader, block + 8);
	if (interface->snapshot_length != 0 && frame->caplen > interface->snapshot_length)
		frame->caplen = interface->snapshot_length;
	return pcapng_fill_frame(reader, frame, interface, length - SIMPLE_HEADER - BLOCK_TRAILER);
}

/* --------------------------------------------------------------------------------------------------- blocks */

/* The byte order of a section. */
static bool
pcapng_read_byte_order(struct pcapng_reader *reader, const uint8_t *block)
{
	uint32_t magic;

	memcpy(&magic, block + 8, sizeof magic);
	reader->swapped = magic == __builtin_bswap32(BYTE_ORDER_MAGIC);
	return reader->swapped || magic == BYTE_ORDER_MAGIC ||
	       frame_reader_set_error(&reader->base, "a section without a known byte order");
}

static bool
pcapng_read_section(struct pcapng_reader *reader, const uint8_t *block, uint32_t length)
{
	unsigned version;

	if (length < SECTION_MIN)
		return frame_reader_set_error(&reader->base, "a section header of %u bytes", length);
	version = pcapng_get16(reader, block + 12);
	if (version != 1)
		return frame_reader_set_error(&reader->base, "version %u of pcapng files is not supported", version);
	reader->interfaces.count = 0;
	return true;
}

static enum frame_step
pcapng_parse_block(struct pcapng_reader *reader, struct frame *frame, uint32_t type, uint32_t length)
{
	const uint8_t *block = frame_reader_bytes(&reader->base);
	enum frame_step step = FRAME_STEP_SKIPPED;
	bool good = true;

	switch (type) {
	case BLOCK_ENHANCED:
	case BLOCK_PACKET:
		step = FRAME_STEP_FRAME;
		good = pcapng_read_packet(reader, frame, block, length, type == BLOCK_ENHANCED);
		break;
	case BLOCK_SIMPLE:
		step = FRAME_STEP_FRAME;
		good = pcapng_read_simple(reader, frame, block, length);
		break;
	case BLOCK_INTERFACE:
		good = pcapng_read_interface(reader, block, length);
		break;
	case BLOCK_SECTION:
		good = pcapng_read_section(reader, block, length);
		break;
	case BLOCK_STATISTICS:
		pcapng_read_statistics(reader, block, length);
		break;
	default:
		break;
	}
	if (!good)
		return FRAME_STEP_DAMAGED;
	reader->base.parsed += length;
	return step;
}

static bool
pcapng_set_length_error(struct pcapng_reader *reader, uint32_t type, uint32_t length)
{
	if (length > FRAME_READER_BLOCK_MAX)
		return frame_reader_set_error(&reader->base,
					      "a block of type 0x%x with %u bytes; at most %u are allowed", type,
					      length, FRAME_READER_BLOCK_MAX);
	return frame_reader_set_error(&reader->base, "a block of type 0x%x with %u bytes", type, length);
}

static enum frame_step
pcapng_step(struct frame_reader *base, struct frame *frame)
{
	struct pcapng_reader *reader = (struct pcapng_reader *)base;
	const uint8_t *block = frame_reader_bytes(base);
	uint32_t type, length, end;

	if (!frame_reader_has(base, BLOCK_MIN))
		return FRAME_STEP_PARTIAL;
	type = pcapng_get32(reader, block);
	/* The type of a section header is the same in both byte orders. */
	if (type == BLOCK_SECTION && !pcapng_read_byte_order(reader, block))
		return FRAME_STEP_DAMAGED;
	length = pcapng_get32(reader, block + 4);
	if (length < BLOCK_MIN || length % 4 != 0 || length > FRAME_READER_BLOCK_MAX) {
		pcapng_set_length_error(reader, type, length);
		return FRAME_STEP_DAMAGED;
	}
	if (!frame_reader_has(base, length))
		return FRAME_STEP_PARTIAL;
	end = pcapng_get32(reader, block + length - BLOCK_TRAILER);
	if (end != length) {
		frame_reader_set_error(base, "a block of type 0x%x with %u bytes at its start, %u at its end", type,
				       length, end);
		return FRAME_STEP_DAMAGED;
	}
	return pcapng_parse_block(reader, frame, type, length);
}

/* Whether the next block has a frame; if less than a type has been read, it is not known yet. */
static bool
pcapng_is_packet(const struct pcapng_reader *reader)
{
	uint32_t type = 0;

	if (reader->base.end - reader->base.parsed >= sizeof type)
		type = pcapng_get32(reader, frame_reader_bytes(&reader->base));
	return type == BLOCK_ENHANCED || type == BLOCK_SIMPLE || type == BLOCK_PACKET;
}

static bool
pcapng_has_supported_link_type(const struct pcapng_reader *reader)
{
	for (size_t i = 0; i < reader->base.link_type_count; i++)
		if (dissect_link_supported(reader->base.link_types[i]))
			return true;
	return false;
}

/* Reads the blocks before the first frame.  After an interface that is supported, it does not wait for more bytes.
 * Damage after an interface is reported by the next read, which also skips the blocks above the limit. */
static bool
pcapng_start(struct frame_reader *base)
{
	struct pcapng_reader *reader = (struct pcapng_reader *)base;
	struct frame none;
	unsigned skipped = 0;

	while (base->link_type_count == 0 || !pcapng_is_packet(reader)) {
		enum frame_step step;

		if (skipped == PCAPNG_START_SKIPS)
			return base->link_type_count > 0 ||
			       frame_reader_set_error(base, "the first %d blocks describe no interface",
						      PCAPNG_START_SKIPS);
		step = pcapng_step(base, &none);
		if (step == FRAME_STEP_SKIPPED)
			skipped++;
		if (step == FRAME_STEP_PARTIAL && pcapng_has_supported_link_type(reader))
			return true;
		if (step == FRAME_STEP_DAMAGED ||
		    (step == FRAME_STEP_PARTIAL && !frame_reader_fill(base, base->wanted)))
			return base->link_type_count > 0;
	}
	return true;
}

static void
pcapng_free(struct frame_reader *base)
{
	pcapng_interfaces_free(&((struct pcapng_reader *)base)->interfaces);
}

const struct frame_format pcapng_format = {
    .magic = {0x0a, 0x0d, 0x0d, 0x0a},
    .magic_length = 4,
    .reader_size = sizeof(struct pcapng_reader),
    .start = pcapng_start,
    .step = pcapng_step,
    .free = pcapng_free,
};
