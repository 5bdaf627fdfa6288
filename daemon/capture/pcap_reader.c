/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/capture/pcap_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NANOSECONDS 1000000000u

/* Largest frame that libpcap accepts for the link types netobs supports (MAXIMUM_SNAPLEN). */
#define LONGEST_FRAME 262144u

/* Bytes per read: small enough to be still in the second-level cache when they are parsed. */
#define READ_BYTES (128u * 1024)

enum { FILE_HEADER = 24, VERSION_MAJOR = 2, VERSION_MINOR = 4 };

/* As in the file (pcap-savefile(5)). */
struct record {
	uint32_t seconds, fraction, caplen, len;
};

_Static_assert(sizeof(struct record) == 16, "a record header has no padding");

struct bulk {
	pcap_t *pcap;
	const struct interface *interface;
	int fd;
	int dlt;
	uint32_t longest; /* a record with a larger caplen is left to libpcap */
	uint32_t scale;	  /* nanoseconds per unit of `fraction` */
	off_t offset;	  /* file offset of the next read */
	uint32_t at, end; /* range of the buffer not parsed yet */
	_Alignas(64) uint8_t buffer[sizeof(struct record) + LONGEST_FRAME + READ_BYTES];
};

/* Nanoseconds per time stamp unit, by the magic number; 0 if the file is no classic capture in this byte order. */
static uint32_t
scale_of(int fd)
{
	uint32_t magic;

	if (pread(fd, &magic, sizeof magic, 0) != sizeof magic)
		return 0;
	return magic == 0xa1b2c3d4 ? 1000 : magic == 0xa1b23c4d ? 1 : 0;
}

struct bulk *
bulk_open(int fd, pcap_t *pcap, const struct interface *interface)
{
	uint32_t scale = scale_of(fd), snapshot = (uint32_t)pcap_snapshot(pcap);
	struct bulk *bulk;

	if (scale == 0 || pcap_is_swapped(pcap) || pcap_major_version(pcap) != VERSION_MAJOR ||
	    pcap_minor_version(pcap) != VERSION_MINOR)
		return NULL;
	bulk = malloc(sizeof *bulk);
	if (bulk == NULL)
		return NULL;
	bulk->pcap = pcap;
	bulk->interface = interface;
	bulk->fd = fd;
	bulk->dlt = pcap_datalink(pcap);
	bulk->longest = snapshot < LONGEST_FRAME ? snapshot : LONGEST_FRAME;
	bulk->scale = scale;
	bulk->offset = FILE_HEADER;
	bulk->at = bulk->end = 0;
	return bulk;
}

void
bulk_free(struct bulk *bulk)
{
	free(bulk);
}

/* Reads more bytes behind the unparsed ones, which move to the front.  False at the end of the file and on a read
 * error, which libpcap will report. */
static bool
fill(struct bulk *bulk)
{
	uint32_t left = bulk->end - bulk->at, room = (uint32_t)sizeof bulk->buffer - left;
	ssize_t got;

	memmove(bulk->buffer, bulk->buffer + bulk->at, left);
	bulk->at = 0;
	bulk->end = left;
	do
		got = pread(bulk->fd, bulk->buffer + left, room < READ_BYTES ? room : READ_BYTES, bulk->offset);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	bulk->end += (uint32_t)got;
	bulk->offset += got;
	return true;
}

/* Whether the record is plain enough to be read here.  A time stamp beyond 2038 is negative in some versions of
 * libpcap. */
static inline bool
is_plain(const struct bulk *bulk, const struct record *r)
{
	return r->caplen <= bulk->longest && (int32_t)(r->seconds | r->fraction) >= 0;
}

/* Returns the frames that are complete in the buffer. */
static unsigned
take(struct bulk *bulk, struct frame *frames, unsigned count)
{
	uint32_t at = bulk->at, end = bulk->end;
	unsigned taken = 0;
	struct record r;

	while (taken < count && end - at >= sizeof r) {
		memcpy(&r, bulk->buffer + at, sizeof r);
		if (!is_plain(bulk, &r) || r.caplen > end - at - sizeof r)
			break;
		frames[taken].data = bulk->buffer + at + sizeof r;
		frames[taken].interface = bulk->interface;
		frames[taken].ts = (uint64_t)r.seconds * NANOSECONDS + (uint64_t)r.fraction * bulk->scale;
		frames[taken].caplen = r.caplen;
		frames[taken].len = r.len;
		frames[taken].dlt = bulk->dlt;
		at += (uint32_t)sizeof r + r.caplen;
		taken++;
	}
	bulk->at = at;
	return taken;
}

/* Whether reading more may complete the present record. */
static bool
wants_more(const struct bulk *bulk)
{
	struct record r;

	if (bulk->end - bulk->at < sizeof r)
		return true;
	memcpy(&r, bulk->buffer + bulk->at, sizeof r);
	return is_plain(bulk, &r);
}

unsigned
bulk_read(struct bulk *bulk, struct frame *frames, unsigned count)
{
	unsigned taken;

	while ((taken = take(bulk, frames, count)) == 0)
		if (!wants_more(bulk) || !fill(bulk))
			break;
	return taken;
}

bool
bulk_leave(struct bulk *bulk)
{
	off_t offset = bulk->offset - (off_t)(bulk->end - bulk->at);

	return fseeko(pcap_file(bulk->pcap), offset, SEEK_SET) == 0;
}
