/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentences.h"

#include <inttypes.h>
#include <netinet/in.h>

/* A pause in all traffic of the capture that is worth a sentence, ns. */
#define GAP_NS 5000000000u

/* Duplicates are worth a sentence if there are at least so many, and one of so many packets. */
#define DUPLICATES_MIN	 3u
#define DUPLICATES_SHARE 10u

static uint64_t
report_is_one_way(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP && record->reason != REPORT_NO_ANSWER &&
	       !report_record_is_attempt(record) &&
	       (record->ends[REPORT_CLIENT].segments == 0 || record->ends[REPORT_SERVER].segments == 0);
}

/* Bytes that ends acknowledge although the capture does not have them; on how many connections. */
static uint64_t
report_count_missing(const struct report_capture *capture, uint64_t *connections)
{
	uint64_t bytes = 0;

	*connections = 0;
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_end *ends = capture->records.list[i].ends;
		uint64_t missing = (uint64_t)report_ends_find(&capture->ends, ends[REPORT_CLIENT].cid)->missing +
				   report_ends_find(&capture->ends, ends[REPORT_SERVER].cid)->missing;

		bytes += missing;
		*connections += missing > 0;
	}
	return bytes;
}

/* What is missing in the capture.  Its weight, 0 if nothing is. */
static uint64_t
report_gaps(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t one_way = report_gather(sentence, capture, report_is_one_way, REPORT_EVENTS);
	uint64_t unreadable = capture->damaged + capture->unsupported, lossy;
	uint64_t missing = report_count_missing(capture, &lossy);

	if (capture->dropped + one_way + unreadable + capture->midstream + lossy == 0) {
		if (capture->status == 0)
			report_write(sentence, "The capture itself has no gap: no frame is missing and every "
					       "connection begins in it.");
		return 0;
	}
	report_write(sentence, "The capture itself has gaps, which are no fault of the network");
	report_write_part(sentence, capture->dropped, "frame was dropped", "frames were dropped");
	report_write_part(sentence, lossy, "connection lacks data", "connections lack data");
	if (lossy > 0)
		report_write(sentence, " (%" PRIu64 " byte%s that the receiver acknowledges)", missing,
			     report_plural(missing));
	report_write_part(sentence, capture->midstream, "connection began before it", "connections began before it");
	report_write_part(sentence, one_way, "connection shows one direction only",
			  "connections show one direction only");
	report_write_part(sentence, unreadable, "frame cannot be read", "frames cannot be read");
	report_write(sentence, ".");
	return 25 * (capture->dropped + one_way + lossy) + 5 * unreadable + capture->midstream;
}

/* Packets that the capture has twice.  The weight is more than what they may add to other sentences. */
static uint64_t
report_duplicated(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t packets = capture->duplicates.packets, copies = capture->duplicates.copies;
	unsigned percent = packets > 0 ? (unsigned)((100 * copies + packets / 2) / packets) : 0;

	if (copies < DUPLICATES_MIN || copies * DUPLICATES_SHARE < packets)
		return 0;
	if (percent >= 45 && percent <= 52)
		report_write(sentence, "About half of the packets are duplicates");
	else
		report_write(sentence, "About %u %% of the packets are duplicates", percent);
	report_write(sentence, ": a mirror port of both directions, or a capture on several interfaces, has them "
			       "twice. They are no retransmissions; the volumes below count them. ");
	return 100 + 10 * copies;
}

/* What else is wrong with the capture, behind its gaps.  The weight. */
static uint64_t
report_oddities(struct report_sentence *sentence, const struct report_capture *capture)
{
	const struct report_volume *volume = &capture->volume;
	bool silent = volume->gap >= GAP_NS;

	if (capture->truncated > 0)
		report_write(sentence, " %" PRIu64 " packet%s cut by the snapshot length.", capture->truncated,
			     capture->truncated == 1 ? " is" : "s are");
	if (silent)
		report_write(sentence, " It is silent for %.1f s before packet %" PRIu64 ".", (double)volume->gap / 1e9,
			     volume->gap_at);
	if (volume->stray == 1)
		report_write(sentence,
			     " Packet %" PRIu64 " has a time stamp far from those around it, and is not on the "
			     "time axes.",
			     volume->stray_at);
	else if (volume->stray > 1)
		report_write(sentence,
			     " %" PRIu64 " packets, packet %" PRIu64
			     " the first, have time stamps far from those around "
			     "them, and are not on the time axes.",
			     volume->stray, volume->stray_at);
	return silent + 5 * volume->stray;
}

void
report_quality(struct report_sentence *sentence, const struct report_capture *capture)
{
	sentence->topic = "capture";
	if (capture->status != 0) {
		sentence->weight += 1000000;
		report_write(sentence,
			     "The capture is damaged or incomplete, and this page ends where it breaks off. ");
	}
	if (capture->frames.count == 0) {
		sentence->weight += 1000000;
		report_write(sentence, "There is no packet: nothing was captured, or nothing passes the filter.");
		return;
	}
	sentence->weight += report_duplicated(sentence, capture);
	sentence->weight += report_gaps(sentence, capture);
	sentence->weight += report_oddities(sentence, capture);
}
