/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file/pcap_reader.h"

#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1000000000u

/* Largest frame that libpcap accepts for the link types netobs supports (MAXIMUM_SNAPLEN). */
#define CAPLEN_MAX 262144u

/* Bytes per read: small enough to be still in the second-level cache when they are parsed. */
#define READ_BYTES (128u * 1024)

enum { VERSION_MAJOR = 2, VERSION_MINOR = 4 };

/* As in the file (pcap-savefile(5)). */
struct pcap_frame_header {
	uint32_t seconds, fraction, caplen, len;
};

_Static_assert(sizeof(struct pcap_frame_header) == 16, "a frame header has no padding");

struct pcap_reader {
	struct file_stream *stream;
	const struct interface *interface;
	int dlt;
	uint32_t max_caplen;  /* a frame with a larger caplen is left to libpcap */
	uint32_t ns_per_unit; /* nanoseconds per unit of `fraction` */
	uint32_t units_per_second;
	uint32_t at, end; /* range of the buffer not parsed yet */
	_Alignas(64) uint8_t buffer[sizeof(struct pcap_frame_header) + CAPLEN_MAX + READ_BYTES];
};

/* Nanoseconds per time stamp unit, by the magic number; 0 if the file is not a classic capture in this byte order. */
static uint32_t
pcap_reader_time_unit(uint32_t magic)
{
	return magic == 0xa1b2c3d4 ? 1000 : magic == 0xa1b23c4d ? 1 : 0;
}

/* Whether libpcap has read the header, and neither libpcap nor stdio has read anything after it. */
static bool
pcap_reader_is_at_first_frame(const struct file_stream *stream, pcap_t *pcap)
{
	return file_stream_position(stream) == FILE_STREAM_PCAP_HEADER &&
	       ftello(pcap_file(pcap)) == FILE_STREAM_PCAP_HEADER;
}

struct pcap_reader *
pcap_reader_new(struct file_stream *stream, pcap_t *pcap, uint32_t magic, const struct interface *interface)
{
	uint32_t scale = pcap_reader_time_unit(magic), snapshot = (uint32_t)pcap_snapshot(pcap);
	struct pcap_reader *reader;

	if (scale == 0 || pcap_is_swapped(pcap) || pcap_major_version(pcap) != VERSION_MAJOR ||
	    pcap_minor_version(pcap) != VERSION_MINOR || !pcap_reader_is_at_first_frame(stream, pcap))
		return NULL;
	reader = aligned_alloc(_Alignof(struct pcap_reader), sizeof *reader);
	if (reader == NULL)
		return NULL;
	reader->stream = stream;
	reader->interface = interface;
	reader->dlt = pcap_datalink(pcap);
	reader->max_caplen = snapshot < CAPLEN_MAX ? snapshot : CAPLEN_MAX;
	reader->ns_per_unit = scale;
	reader->units_per_second = NANOSECONDS / scale;
	reader->at = reader->end = 0;
	return reader;
}

void
pcap_reader_free(struct pcap_reader *reader)
{
	free(reader);
}

/* Reads more bytes after the unparsed ones, which move to the front.  False at the end of the file and on a read
 * error, which libpcap will report. */
static bool
pcap_reader_fill(struct pcap_reader *reader)
{
	uint32_t left = reader->end - reader->at, space = (uint32_t)sizeof reader->buffer - left;
	ssize_t got;

	memmove(reader->buffer, reader->buffer + reader->at, left);
	reader->at = 0;
	reader->end = left;
	got = file_stream_read(reader->stream, reader->buffer + left, space < READ_BYTES ? space : READ_BYTES);
	if (got <= 0)
		return false;
	reader->end += (uint32_t)got;
	return true;
}

/* Whether the frame is plain enough to be read here.  An invalid fraction is left to libpcap and
 * capture_time_stamp(). */
static inline bool
pcap_reader_is_regular(const struct pcap_reader *reader, const struct pcap_frame_header *r)
{
	return r->caplen <= reader->max_caplen && r->fraction < reader->units_per_second;
}

/* Returns the frames that are complete in the buffer. */
static unsigned
pcap_reader_take_frames(struct pcap_reader *reader, struct frame *frames, unsigned count)
{
	uint32_t at = reader->at, end = reader->end;
	unsigned taken = 0;
	struct pcap_frame_header r;

	while (taken < count && end - at >= sizeof r) {
		memcpy(&r, reader->buffer + at, sizeof r);
		if (!pcap_reader_is_regular(reader, &r) || r.caplen > end - at - sizeof r)
			break;
		frames[taken].data = reader->buffer + at + sizeof r;
		frames[taken].interface = reader->interface;
		frames[taken].ts = (uint64_t)r.seconds * NANOSECONDS + (uint64_t)r.fraction * reader->ns_per_unit;
		frames[taken].caplen = r.caplen;
		frames[taken].len = r.len;
		frames[taken].dlt = reader->dlt;
		at += (uint32_t)sizeof r + r.caplen;
		taken++;
	}
	reader->at = at;
	return taken;
}

/* Whether reading more may complete the present frame. */
static bool
pcap_reader_is_partial(const struct pcap_reader *reader)
{
	struct pcap_frame_header r;

	if (reader->end - reader->at < sizeof r)
		return true;
	memcpy(&r, reader->buffer + reader->at, sizeof r);
	return pcap_reader_is_regular(reader, &r);
}

unsigned
pcap_reader_read(struct pcap_reader *reader, struct frame *frames, unsigned count)
{
	unsigned taken;

	while ((taken = pcap_reader_take_frames(reader, frames, count)) == 0)
		if (!pcap_reader_is_partial(reader) || !pcap_reader_fill(reader))
			break;
	return taken;
}

off_t
pcap_reader_position(const struct pcap_reader *reader)
{
	return file_stream_position(reader->stream) - (off_t)(reader->end - reader->at);
}

void
pcap_reader_hand_back(const struct pcap_reader *reader)
{
	file_stream_unread(reader->stream, reader->buffer + reader->at, reader->end - reader->at);
}
