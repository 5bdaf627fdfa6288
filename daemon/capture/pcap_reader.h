/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of a classic capture file in bulk: a plain file is read into one large buffer and its records are given where
 * they lie in it, without stdio, a callback for each, or a copy.
 *
 * libpcap's pcap_loop() costs 45 ns a record by itself (bench/pcap_floor), and what it lends for the time of a callback has
 * to be copied before it can be looked at in batches.  Reading through libpcap, a replay takes 172 ns a frame; with
 * this reader 130, of which it costs 25, nearly all of it the kernel's copy.
 *
 * It knows only what needs no judgement: whole records of version 2.4 in this machine's byte order, no longer than the
 * snapshot length and what is sane.  It opens nothing and refuses nothing: libpcap opens the file, and at the first
 * record that is not of this kind, be it odd, damaged, cut short or the end of the file, bulk_leave() puts libpcap's
 * stream in front of that record and libpcap says what it is.
 */
#ifndef NETOBS_DAEMON_CAPTURE_PCAP_READER_H
#define NETOBS_DAEMON_CAPTURE_PCAP_READER_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>

#include "dissect/frame.h"

struct bulk;

/* Takes the records of `pcap`, of which none has been read yet, out of the plain file behind `fd`.  NULL where that is
 * not possible, which is no error: libpcap reads them. */
struct bulk *bulk_open(int fd, pcap_t *pcap, const struct interface *interface);
void bulk_free(struct bulk *bulk);

/* At most `count` frames; what was given before is gone.  0: the next record is libpcap's, call bulk_leave(). */
unsigned bulk_read(struct bulk *bulk, struct frame *frames, unsigned count);

/* Has libpcap go on where the last bulk_read() ended.  False, with errno, if its stream cannot be moved. */
bool bulk_leave(struct bulk *bulk);

#endif
