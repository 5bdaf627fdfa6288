/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes captures: pcapng (draft-ietf-opsawg-pcapng), classic pcap with times in nanoseconds, and snoop (RFC 1761).
 * Only pcapng can hold interfaces of several link types, directions, packet ids, processes, comments and drops; the
 * other formats leave them out: the cumulative drops of snoop are 0.  The times of pcap and snoop end in February 2106.
 * Readers of snoop files accept no frame of more than 262,144 bytes on the wire: that length is then written.
 * The bytes are passed to a sink in order, in pieces.
 */
#ifndef NETOBS_FLIGHT_FORMAT_CAPTURE_WRITER_H
#define NETOBS_FLIGHT_FORMAT_CAPTURE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum capture_format { CAPTURE_PCAPNG, CAPTURE_PCAP, CAPTURE_SNOOP, CAPTURE_FORMATS };

/* Receives bytes.  False: they could not be written, and the writer fails. */
struct byte_sink {
	bool (*write)(void *context, const void *bytes, size_t size);
	void *context;
};

struct written_interface {
	const char *name; /* "" if unknown */
	int dlt;	  /* link type, a DLT_ value */
	uint32_t snaplen; /* most bytes of a frame that are written */
};

enum written_direction { WRITTEN_UNKNOWN, WRITTEN_INBOUND, WRITTEN_OUTBOUND }; /* epb_flags, bits 0 and 1 */

struct written_frame {
	unsigned interface; /* number that capture_writer_add_interface() has returned */
	uint64_t ts;	    /* packet time, ns since the epoch */
	const uint8_t *data;
	uint32_t caplen, len; /* bytes of `data`; bytes on the wire */
	enum written_direction direction;
	uint64_t packet_id; /* pkt_addr; 0: none */
	int32_t pid;	    /* process of the local end, -1: unknown */
	const char *const *comments; /* pcapng: those beyond 4 MiB of a frame are left out */
	size_t comment_count;
};

/* Counters for the end of the file, for all interfaces together. */
struct written_statistics {
	uint64_t first, last; /* packet times between which frames were selected, ns; 0: unknown */
	uint64_t dropped;     /* frames that the kernel has dropped */
	const char *comment;  /* what is missing from the file; NULL: nothing */
};

struct capture_writer;

/* "pcapng", "pcap" or "snoop"; CAPTURE_FORMATS for another word. */
enum capture_format capture_format_parse(const char *name);
const char *capture_format_name(enum capture_format format);

/* Whether the format can hold frames of this link type. */
bool capture_format_holds(enum capture_format format, int dlt);

/* `sink` is copied, its context borrowed.  `dlt`: link type of all frames; in pcapng of the interface that a file
 * without frames has.  NULL: out of memory. */
struct capture_writer *capture_writer_new(enum capture_format format, int dlt, uint32_t snaplen,
					  const struct byte_sink *sink);
void capture_writer_free(struct capture_writer *writer);

/* The functions below return false if the sink has, or for the reason that capture_writer_error() returns. */

/* The head of the file. */
bool capture_writer_begin(struct capture_writer *writer);

/* Adds an interface, and sets its number for struct written_frame. */
bool capture_writer_add_interface(struct capture_writer *writer, const struct written_interface *interface,
				  unsigned *number);

/* A frame whose time the format cannot hold is an error, and no byte of it is written. */
bool capture_writer_add_frame(struct capture_writer *writer, const struct written_frame *frame);

/* The end of the file; pcapng: interface statistics. */
bool capture_writer_end(struct capture_writer *writer, const struct written_statistics *statistics);

/* Frames whose length on the wire the format cannot hold. */
uint64_t capture_writer_shortened(const struct capture_writer *writer);

/* Why a function above has returned false; NULL: the sink has. */
const char *capture_writer_error(const struct capture_writer *writer);

#endif
