/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads frames of a classic capture file in bulk.  The stream is read into one large buffer, and frames point into
 * it: no stdio, no callback per frame, no copy.  pcap_loop() alone costs 45 ns a frame (bench/pcap_floor), and the
 * frames it lends for the duration of a callback must be copied to form a batch.  This reader costs 25 ns a frame,
 * nearly all of it the kernel's copy.
 *
 * The reader handles only plain frames: complete, version 2.4, this machine's byte order, not longer than the snapshot
 * length and libpcap's maximum.  It never opens a file and never reports an error: libpcap opens the file, and at the
 * first other frame (unusual, damaged, truncated, or the end of the file) pcap_reader_hand_back() returns the bytes
 * from there on to the stream, and libpcap handles them.
 */
#ifndef NETOBS_CAPTURE_FILE_PCAP_READER_H
#define NETOBS_CAPTURE_FILE_PCAP_READER_H

#include <pcap/pcap.h>
#include <stdint.h>

#include "capture/file/file_stream.h"
#include "dissect/frame.h"

struct pcap_reader;

/* Takes over reading `pcap`, of which no frame has been read yet, from the stream that it reads (file_stream_fopen()).
 * `magic`: the first bytes of the stream.  NULL if that is not possible, which is not an error: libpcap then reads
 * it. */
struct pcap_reader *pcap_reader_new(struct file_stream *stream, pcap_t *pcap, uint32_t magic,
				    const struct interface *interface);
void pcap_reader_free(struct pcap_reader *reader);

/* Returns at most `count` frames; frames returned earlier become invalid.  0: the next frame is libpcap's; call
 * pcap_reader_hand_back(). */
unsigned pcap_reader_read(struct pcap_reader *reader, struct frame *frames, unsigned count);

/* Offset in the stream of the next frame, before pcap_reader_hand_back(). */
off_t pcap_reader_position(const struct pcap_reader *reader);

/* Lets libpcap continue at the end of the last pcap_reader_read(), with bytes of the reader's buffer: free the reader
 * when libpcap reads no longer. */
void pcap_reader_hand_back(const struct pcap_reader *reader);

#endif
