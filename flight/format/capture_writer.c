/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/format/capture_writer.h"

#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>

#include "flight/format/capture_writer_internal.h"

static const char *const format_names[CAPTURE_FORMATS] = {"pcapng", "pcap", "snoop"};

/* DLT_ values whose LINKTYPE_ value is another number: those of Linux, and two more of raw IP. */
static const struct {
	int dlt, linktype;
} differing_types[] = {
	{DLT_ATM_RFC1483, 100}, {DLT_RAW, 101},	     {DLT_SLIP_BSDOS, 102}, {DLT_PPP_BSDOS, 103},
	{DLT_ATM_CLIP, 106},	{DLT_PFSYNC, 246},
	{14, 101}, /* raw IP of OpenBSD */
	{101, 101}, /* raw IP of a file */
};

enum capture_format
capture_format_parse(const char *name)
{
	unsigned format = 0;

	while (format < CAPTURE_FORMATS && strcmp(name, format_names[format]) != 0)
		format++;
	return (enum capture_format)format;
}

const char *
capture_format_name(enum capture_format format)
{
	return format_names[format];
}

int
capture_link_type(int dlt)
{
	for (size_t i = 0; i < sizeof differing_types / sizeof *differing_types; i++)
		if (differing_types[i].dlt == dlt)
			return differing_types[i].linktype;
	/* Up to DLT_FDDI, from 104 on, and some numbers between, both numbers are equal. */
	if ((dlt >= 0 && dlt <= DLT_FDDI) || dlt == DLT_PPP_SERIAL || dlt == DLT_PPP_ETHER ||
	    (dlt >= 104 && dlt <= 65535))
		return dlt;
	return LINKTYPE_UNKNOWN;
}

bool
capture_format_holds(enum capture_format format, int dlt)
{
	return format == CAPTURE_SNOOP ? snoop_holds(dlt) : capture_link_type(dlt) != LINKTYPE_UNKNOWN;
}

struct capture_writer *
capture_writer_new(enum capture_format format, int dlt, uint32_t snaplen, const struct byte_sink *sink)
{
	struct capture_writer *writer = calloc(1, sizeof *writer);

	if (writer != NULL) {
		writer->format = format;
		writer->dlt = dlt;
		writer->snaplen = snaplen;
		writer->sink = *sink;
	}
	return writer;
}

void
capture_writer_free(struct capture_writer *writer)
{
	if (writer != NULL)
		free(writer->received);
	free(writer);
}

static void
capture_flush_piece(struct capture_writer *writer)
{
	if (writer->used > 0 && !writer->failed)
		writer->failed = !writer->sink.write(writer->sink.context, writer->piece, writer->used);
	writer->used = 0;
}

void
capture_put_bytes(struct capture_writer *writer, const void *bytes, size_t size)
{
	if (size > sizeof writer->piece - writer->used)
		capture_flush_piece(writer);
	if (size > sizeof writer->piece) {
		if (!writer->failed)
			writer->failed = !writer->sink.write(writer->sink.context, bytes, size);
	} else if (size > 0) {
		memcpy(writer->piece + writer->used, bytes, size);
		writer->used += size;
	}
}

void
capture_put_zeros(struct capture_writer *writer, size_t count)
{
	static const uint8_t zeros[4];

	while (count > 0) {
		size_t part = count < sizeof zeros ? count : sizeof zeros;

		capture_put_bytes(writer, zeros, part);
		count -= part;
	}
}

void
capture_put_le16(struct capture_writer *writer, unsigned value)
{
	const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8)};

	capture_put_bytes(writer, bytes, sizeof bytes);
}

void
capture_put_le32(struct capture_writer *writer, uint32_t value)
{
	capture_put_le16(writer, value & 0xffff);
	capture_put_le16(writer, value >> 16);
}

void
capture_put_be32(struct capture_writer *writer, uint32_t value)
{
	const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

	capture_put_bytes(writer, bytes, sizeof bytes);
}

static bool
capture_finish_piece(struct capture_writer *writer)
{
	capture_flush_piece(writer);
	return !writer->failed;
}

bool
capture_writer_begin(struct capture_writer *writer)
{
	switch (writer->format) {
	case CAPTURE_PCAP: pcap_put_begin(writer); break;
	case CAPTURE_SNOOP: snoop_put_begin(writer); break;
	case CAPTURE_PCAPNG:
	case CAPTURE_FORMATS: pcapng_put_begin(writer); break;
	}
	return capture_finish_piece(writer);
}

bool
capture_writer_add_interface(struct capture_writer *writer, const struct written_interface *interface, unsigned *number)
{
	if (writer->interfaces == writer->interface_capacity) {
		unsigned capacity = writer->interface_capacity ? 2 * writer->interface_capacity : 8;
		uint64_t *received = realloc(writer->received, capacity * sizeof *received);

		if (received == NULL) {
			writer->error = "out of memory";
			return false;
		}
		writer->received = received;
		writer->interface_capacity = capacity;
	}
	*number = writer->interfaces;
	writer->received[writer->interfaces++] = 0;
	if (writer->format == CAPTURE_PCAPNG)
		pcapng_put_interface(writer, interface);
	return capture_finish_piece(writer);
}

bool
capture_writer_add_frame(struct capture_writer *writer, const struct written_frame *frame)
{
	struct written_frame written = *frame;

	if (writer->format != CAPTURE_PCAPNG && frame->ts / NANOSECONDS_PER_SECOND > UINT32_MAX) {
		writer->error = "a time stamp is later than February 2106, where the time of pcap and snoop files ends";
		return false;
	}
	if (writer->format == CAPTURE_SNOOP && written.len < written.caplen)
		written.len = written.caplen;
	if (writer->snaplen > 0 && written.caplen > writer->snaplen)
		written.caplen = writer->snaplen;
	if (writer->format == CAPTURE_SNOOP && written.len > CAPTURE_SNAPLEN_MAX) {
		written.len = written.caplen > CAPTURE_SNAPLEN_MAX ? written.caplen : CAPTURE_SNAPLEN_MAX;
		writer->shortened++;
	}
	if (written.interface < writer->interfaces)
		writer->received[written.interface]++;

	switch (writer->format) {
	case CAPTURE_PCAP: pcap_put_frame(writer, &written); break;
	case CAPTURE_SNOOP: snoop_put_frame(writer, &written); break;
	case CAPTURE_PCAPNG:
	case CAPTURE_FORMATS: pcapng_put_frame(writer, &written); break;
	}
	return capture_finish_piece(writer);
}

/* libpcap rejects a pcapng file without an interface, and the statistics belong to one. */
static bool
capture_add_missing_interface(struct capture_writer *writer)
{
	const struct written_interface interface = {.name = "", .dlt = writer->dlt, .snaplen = writer->snaplen};
	unsigned number;

	return writer->interfaces != 0 || capture_writer_add_interface(writer, &interface, &number);
}

bool
capture_writer_end(struct capture_writer *writer, const struct written_statistics *statistics)
{
	if (writer->format == CAPTURE_PCAPNG) {
		if (!capture_add_missing_interface(writer))
			return false;
		pcapng_put_end(writer, statistics);
	}
	return capture_finish_piece(writer);
}

uint64_t
capture_writer_shortened(const struct capture_writer *writer)
{
	return writer->shortened;
}

const char *
capture_writer_error(const struct capture_writer *writer)
{
	return writer->error;
}
