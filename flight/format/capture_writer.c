/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes in a fixed order, collected into pieces for the sink; the formats; their writer. */
#include "flight/format/capture_writer.h"

#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURE_PIECE_SIZE    1024u   /* bytes collected for one call of the sink */
#define CAPTURE_SNAPLEN_MAX   262144u /* most bytes of a frame that common readers accept */
#define LINKTYPE_UNKNOWN      (-1)
#define NANOSECONDS_PER_SECOND UINT64_C(1000000000)

struct capture_writer {
	enum capture_format format;
	int dlt;
	uint32_t snaplen;
	struct byte_sink sink;
	bool failed; /* the sink has returned false */
	const char *error; /* capture_writer_error() */
	uint64_t shortened; /* capture_writer_shortened() */

	uint64_t *received; /* frames of each interface */
	unsigned interfaces, interface_capacity;

	size_t used; /* bytes in `piece` */
	uint8_t piece[CAPTURE_PIECE_SIZE];
};

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

/* LINKTYPE_ value of a DLT_ value, LINKTYPE_UNKNOWN if files cannot hold the link type. */
static int
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

static void
capture_flush_piece(struct capture_writer *writer)
{
	if (writer->used > 0 && !writer->failed)
		writer->failed = !writer->sink.write(writer->sink.context, writer->piece, writer->used);
	writer->used = 0;
}

/* Append to the file. */
static void
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

static void
capture_put_zeros(struct capture_writer *writer, size_t count)
{
	static const uint8_t zeros[4];

	while (count > 0) {
		size_t part = count < sizeof zeros ? count : sizeof zeros;

		capture_put_bytes(writer, zeros, part);
		count -= part;
	}
}

static void
capture_put_le16(struct capture_writer *writer, unsigned value)
{
	const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8)};

	capture_put_bytes(writer, bytes, sizeof bytes);
}

static void
capture_put_le32(struct capture_writer *writer, uint32_t value)
{
	capture_put_le16(writer, value & 0xffff);
	capture_put_le16(writer, value >> 16);
}

static void
capture_put_be32(struct capture_writer *writer, uint32_t value)
{
	const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

	capture_put_bytes(writer, bytes, sizeof bytes);
}

/* ------------------------------------------------------------------------------------------------------------- pcap */

/* Classic pcap with times in nanoseconds, little-endian on every machine (draft-ietf-opsawg-pcap). */

#define PCAP_MAGIC_NANOSECONDS 0xa1b23c4du

static void
pcap_put_begin(struct capture_writer *writer)
{
	capture_put_le32(writer, PCAP_MAGIC_NANOSECONDS);
	capture_put_le16(writer, 2);
	capture_put_le16(writer, 4);
	capture_put_zeros(writer, 8);
	capture_put_le32(writer, writer->snaplen ? writer->snaplen : CAPTURE_SNAPLEN_MAX);
	capture_put_le32(writer, (uint32_t)capture_link_type(writer->dlt));
}

static void
pcap_put_frame(struct capture_writer *writer, const struct written_frame *frame)
{
	capture_put_le32(writer, (uint32_t)(frame->ts / NANOSECONDS_PER_SECOND));
	capture_put_le32(writer, (uint32_t)(frame->ts % NANOSECONDS_PER_SECOND));
	capture_put_le32(writer, frame->caplen);
	capture_put_le32(writer, frame->len);
	capture_put_bytes(writer, frame->data, frame->caplen);
}

/* ------------------------------------------------------------------------------------------------------------ snoop */

/* Snoop version 2 (RFC 1761): big-endian, times in microseconds. */

#define SNOOP_VERSION	  2
#define SNOOP_RECORD_SIZE 24u /* bytes of a record before its frame */

/* Data link types of RFC 1761; Solaris has added IPNET. */
#define SNOOP_ETHERNET	4u
#define SNOOP_OTHER	9u
#define SNOOP_IPNET	UINT32_C(0x80000005)

static uint32_t
snoop_data_link_type(int dlt)
{
	switch (dlt) {
	case DLT_EN10MB: return SNOOP_ETHERNET;
	case DLT_IPNET: return SNOOP_IPNET;
	default: return SNOOP_OTHER;
	}
}

static bool
snoop_holds(int dlt)
{
	return snoop_data_link_type(dlt) != SNOOP_OTHER;
}

static void
snoop_put_begin(struct capture_writer *writer)
{
	capture_put_bytes(writer, "snoop\0\0", 8);
	capture_put_be32(writer, SNOOP_VERSION);
	capture_put_be32(writer, snoop_data_link_type(writer->dlt));
}

static void
snoop_put_frame(struct capture_writer *writer, const struct written_frame *frame)
{
	uint32_t padding = -frame->caplen & 3;

	capture_put_be32(writer, frame->len);
	capture_put_be32(writer, frame->caplen);
	capture_put_be32(writer, SNOOP_RECORD_SIZE + frame->caplen + padding);
	capture_put_be32(writer, 0); /* cumulative drops: unknown for a single frame */
	capture_put_be32(writer, (uint32_t)(frame->ts / NANOSECONDS_PER_SECOND));
	capture_put_be32(writer, (uint32_t)(frame->ts % NANOSECONDS_PER_SECOND / 1000));
	capture_put_bytes(writer, frame->data, frame->caplen);
	capture_put_zeros(writer, padding);
}

/* ----------------------------------------------------------------------------------------------------------- pcapng */

/* pcapng (draft-ietf-opsawg-pcapng), little-endian on every machine, times in nanoseconds. */

#define OPTION_SIZE_MAX	 65535u
#define OPTIONS_SIZE_MAX (4u * 1024 * 1024) /* bytes of all comments of a frame; tshark reads blocks up to 16 MiB */

enum { BLOCK_INTERFACE = 1, BLOCK_STATISTICS = 5, BLOCK_FRAME = 6 };
#define BLOCK_SECTION 0x0a0d0d0au

enum { OPTION_END, OPTION_COMMENT };
enum { SHB_USERAPPL = 4 };
enum { IF_NAME = 2, IF_TSRESOL = 9 };
enum { EPB_FLAGS = 2, EPB_PACKETID = 5, EPB_PROCESSID_THREADID = 8 };
enum { ISB_STARTTIME = 2, ISB_ENDTIME = 3, ISB_IFRECV = 4, ISB_OSDROP = 7 };

static const char application[] = "netobs " PACKAGE_VERSION;

static uint32_t
pcapng_pad(uint32_t size)
{
	return (size + 3) & ~3u;
}

/* Bytes of an option with its head and padding. */
static uint32_t
pcapng_option_size(uint32_t size)
{
	return 4 + pcapng_pad(size);
}

/* Bytes of a text as an option; a text that is too long ends before a character that does not fit. */
static uint32_t
pcapng_text_size(const char *text)
{
	size_t size = strnlen(text, OPTION_SIZE_MAX + 1);

	if (size > OPTION_SIZE_MAX) {
		size = OPTION_SIZE_MAX;
		while (size > OPTION_SIZE_MAX - 3 && ((uint8_t)text[size] & 0xc0) == 0x80)
			size--;
	}
	return (uint32_t)size;
}

/* Bytes of the printable UTF-8 character (RFC 3629) at the start of `bytes`; 0: there is no such character.  A newline
 * is kept. */
static size_t
pcapng_character_size(const uint8_t *bytes, size_t size)
{
	uint8_t first = bytes[0];
	size_t count = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;

	if (count == 1)
		return (first >= 0x20 && first != 0x7f) || first == '\n';
	if (count == 0 || count > size)
		return 0;
	for (size_t i = 1; i < count; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	/* C1 control characters, overlong forms, surrogates, and what is above U+10FFFF. */
	if ((first == 0xc2 && bytes[1] < 0xa0) || (first == 0xe0 && bytes[1] < 0xa0) ||
	    (first == 0xed && bytes[1] > 0x9f) || (first == 0xf0 && bytes[1] < 0x90) ||
	    (first == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return count;
}

static void
pcapng_put_option_head(struct capture_writer *writer, unsigned code, uint32_t size)
{
	capture_put_le16(writer, code);
	capture_put_le16(writer, size);
}

/* Each byte that is not part of a printable character becomes '?'. */
static void
pcapng_put_text(struct capture_writer *writer, unsigned code, const char *text)
{
	const uint8_t *bytes = (const uint8_t *)text;
	uint32_t size = pcapng_text_size(text);

	pcapng_put_option_head(writer, code, size);
	for (uint32_t i = 0; i < size;) {
		size_t count = pcapng_character_size(bytes + i, size - i);

		capture_put_bytes(writer, count ? (const void *)(bytes + i) : "?", count ? count : 1);
		i += (uint32_t)(count ? count : 1);
	}
	capture_put_zeros(writer, pcapng_pad(size) - size);
}

/* A 64-bit number, in the byte order of the file. */
static void
pcapng_put_number(struct capture_writer *writer, unsigned code, uint64_t value)
{
	pcapng_put_option_head(writer, code, 8);
	capture_put_le32(writer, (uint32_t)value);
	capture_put_le32(writer, (uint32_t)(value >> 32));
}

/* A time: the upper half comes first. */
static void
pcapng_put_time(struct capture_writer *writer, uint64_t time)
{
	capture_put_le32(writer, (uint32_t)(time >> 32));
	capture_put_le32(writer, (uint32_t)time);
}

static void
pcapng_put_block_head(struct capture_writer *writer, uint32_t type, uint32_t size)
{
	capture_put_le32(writer, type);
	capture_put_le32(writer, size);
}

static void
pcapng_put_block_end(struct capture_writer *writer, uint32_t size)
{
	pcapng_put_option_head(writer, OPTION_END, 0);
	capture_put_le32(writer, size);
}

static void
pcapng_put_begin(struct capture_writer *writer)
{
	uint32_t size = 28 + pcapng_option_size(sizeof application - 1) + 4;

	pcapng_put_block_head(writer, BLOCK_SECTION, size);
	capture_put_le32(writer, 0x1a2b3c4d);
	capture_put_le16(writer, 1);
	capture_put_le16(writer, 0);
	capture_put_le32(writer, UINT32_MAX); /* length of the section: unknown */
	capture_put_le32(writer, UINT32_MAX);
	pcapng_put_text(writer, SHB_USERAPPL, application);
	pcapng_put_block_end(writer, size);
}

static void
pcapng_put_interface(struct capture_writer *writer, const struct written_interface *interface)
{
	uint32_t name = interface->name[0] ? pcapng_option_size(pcapng_text_size(interface->name)) : 0;
	uint32_t size = 20 + name + pcapng_option_size(1) + 4;

	pcapng_put_block_head(writer, BLOCK_INTERFACE, size);
	capture_put_le16(writer, (unsigned)capture_link_type(interface->dlt));
	capture_put_le16(writer, 0);
	capture_put_le32(writer, interface->snaplen);
	if (name)
		pcapng_put_text(writer, IF_NAME, interface->name);
	pcapng_put_option_head(writer, IF_TSRESOL, 1);
	capture_put_le32(writer, 9);
	pcapng_put_block_end(writer, size);
}

/* Comments that fit into OPTIONS_SIZE_MAX, and their bytes. */
static size_t
pcapng_count_comments(const struct written_frame *frame, uint32_t *size)
{
	size_t count = 0;

	for (*size = 0; count < frame->comment_count; count++) {
		uint32_t comment = pcapng_option_size(pcapng_text_size(frame->comments[count]));

		if (*size + comment > OPTIONS_SIZE_MAX)
			break;
		*size += comment;
	}
	return count;
}

static void
pcapng_put_frame(struct capture_writer *writer, const struct written_frame *frame)
{
	uint32_t options, size;
	size_t comments = pcapng_count_comments(frame, &options);

	options += frame->direction != WRITTEN_UNKNOWN ? pcapng_option_size(4) : 0;
	options += frame->packet_id ? pcapng_option_size(8) : 0;
	options += frame->pid >= 0 ? pcapng_option_size(8) : 0;
	options += options ? 4 : 0;
	size = 32 + pcapng_pad(frame->caplen) + options;

	pcapng_put_block_head(writer, BLOCK_FRAME, size);
	capture_put_le32(writer, frame->interface);
	pcapng_put_time(writer, frame->ts);
	capture_put_le32(writer, frame->caplen);
	capture_put_le32(writer, frame->len);
	capture_put_bytes(writer, frame->data, frame->caplen);
	capture_put_zeros(writer, pcapng_pad(frame->caplen) - frame->caplen);

	if (frame->direction != WRITTEN_UNKNOWN) {
		pcapng_put_option_head(writer, EPB_FLAGS, 4);
		capture_put_le32(writer, frame->direction);
	}
	if (frame->packet_id)
		pcapng_put_number(writer, EPB_PACKETID, frame->packet_id);
	if (frame->pid >= 0) {
		pcapng_put_option_head(writer, EPB_PROCESSID_THREADID, 8);
		capture_put_le32(writer, (uint32_t)frame->pid);
		capture_put_le32(writer, 0); /* thread: unknown */
	}
	for (size_t i = 0; i < comments; i++)
		pcapng_put_text(writer, OPTION_COMMENT, frame->comments[i]);
	if (options)
		pcapng_put_option_head(writer, OPTION_END, 0);
	capture_put_le32(writer, size);
}

static void
pcapng_put_statistics(struct capture_writer *writer, unsigned interface, const struct written_statistics *statistics)
{
	/* Drops and the comment are those of all interfaces: they are with the first. */
	const char *comment = interface == 0 ? statistics->comment : NULL;
	uint32_t size = 24 + pcapng_option_size(8) + 4;

	size += statistics->first ? pcapng_option_size(8) : 0;
	size += statistics->last ? pcapng_option_size(8) : 0;
	size += interface == 0 ? pcapng_option_size(8) : 0;
	size += comment ? pcapng_option_size(pcapng_text_size(comment)) : 0;

	pcapng_put_block_head(writer, BLOCK_STATISTICS, size);
	capture_put_le32(writer, interface);
	pcapng_put_time(writer, statistics->last);
	if (statistics->first) {
		pcapng_put_option_head(writer, ISB_STARTTIME, 8);
		pcapng_put_time(writer, statistics->first);
	}
	if (statistics->last) {
		pcapng_put_option_head(writer, ISB_ENDTIME, 8);
		pcapng_put_time(writer, statistics->last);
	}
	pcapng_put_number(writer, ISB_IFRECV, writer->received[interface]);
	if (interface == 0)
		pcapng_put_number(writer, ISB_OSDROP, statistics->dropped);
	if (comment)
		pcapng_put_text(writer, OPTION_COMMENT, comment);
	pcapng_put_block_end(writer, size);
}

static void
pcapng_put_end(struct capture_writer *writer, const struct written_statistics *statistics)
{
	for (unsigned i = 0; i < writer->interfaces; i++)
		pcapng_put_statistics(writer, i, statistics);
}

/* ------------------------------------------------------------------------------------------------------- the writer */

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

