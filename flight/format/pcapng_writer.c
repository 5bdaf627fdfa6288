/* SPDX-License-Identifier: BSD-2-Clause */
/* pcapng (draft-ietf-opsawg-pcapng), little-endian on every machine, times in nanoseconds. */
#include <string.h>

#include "flight/format/capture_writer_internal.h"

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

/* Bytes of the printable UTF-8 character (RFC 3629) at the start of `bytes`; 0: there is none.  A newline is kept. */
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

void
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

void
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

void
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

void
pcapng_put_end(struct capture_writer *writer, const struct written_statistics *statistics)
{
	for (unsigned i = 0; i < writer->interfaces; i++)
		pcapng_put_statistics(writer, i, statistics);
}
