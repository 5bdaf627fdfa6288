/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_findings.h"

#include <inttypes.h>
#include <netinet/in.h>

/* A pause in all traffic of the capture that is worth a sentence, ns. */
#define GAP_NS 5000000000u

/* Limits from which a pause has a larger unit, s. */
#define DAY_S  86400u
#define YEAR_S (365u * DAY_S)

/* Duplicates are worth a sentence if there are DUPLICATES_MIN, and one of DUPLICATES_SHARE packets is one. */
#define DUPLICATES_MIN	 10u
#define DUPLICATES_SHARE 10u

/* The separator before the next sentence of a text. */
static const char *
report_space(const struct report_finding *finding)
{
	return finding->text[0] == '\0' ? "" : " ";
}

/* Appends a part of a list, unless its count is 0; the first part follows a colon. */
static void
report_write_part(struct report_finding *finding, bool *has_parts, uint64_t count, const char *one, const char *many)
{
	if (count == 0)
		return;
	report_write(finding, "%s%" PRIu64 " %s", *has_parts ? ", " : ": ", count, count == 1 ? one : many);
	*has_parts = true;
}

/* Counts the records that both measures find. */
static uint64_t
report_count_both(const struct report_facts *facts, report_measure one, report_measure other)
{
	uint64_t count = 0;

	for (size_t i = 0; i < facts->count; i++)
		count += one(facts, &facts->list[i]) > 0 && other(facts, &facts->list[i]) > 0;
	return count;
}

static uint64_t
report_measure_tcp(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->protocol == IPPROTO_TCP;
}

uint64_t
report_is_one_way(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->protocol == IPPROTO_TCP && record->reason != REPORT_NO_ANSWER &&
	       record->reason != REPORT_UNREACHED && !report_record_is_attempt(record) && record->silence.packet == 0 &&
	       !record->goes_on &&
	       (record->ends[REPORT_CLIENT].segments == 0 || record->ends[REPORT_SERVER].segments == 0);
}

static uint64_t
report_measure_missing(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->missing;
}

static uint64_t
report_is_midstream(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->midstream;
}

/* Connections that lack data come first, then those of which one direction is missing. */
static uint64_t
report_measure_gap(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return 3 * record->missing + 2 * report_is_one_way(facts, record) + record->midstream;
}

/* Bytes that ends acknowledge although the capture does not have them. */
static uint64_t
report_count_missing(const struct report_capture *capture)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < capture->records.count; i++)
		bytes += capture->records.list[i].missing;
	return bytes;
}

/* A snapshot length that cuts headers: without them there are no connections.  Returns the weight. */
static uint64_t
report_truncated(struct report_finding *finding, const struct report_capture *capture)
{
	uint64_t cut = capture->truncated > capture->shortened ? capture->truncated - capture->shortened : 0;
	bool most = 2 * cut >= capture->volume.frames;

	if (cut > 0)
		report_write(finding,
			     "%sThe snapshot length is too small: %" PRIu64
			     " of %" PRIu64 " packets are cut in their headers%s.",
			     report_space(finding), cut, capture->volume.frames,
			     most ? ", so that this page lacks most of the traffic" : "");
	if (capture->shortened > 0)
		report_write(finding,
			     "%s%" PRIu64
			     " packet%s shorter than the length in the IP header, although the capture says "
			     "that %s captured whole.",
			     report_space(finding), capture->shortened, capture->shortened == 1 ? " is" : "s are",
			     capture->shortened == 1 ? "it was" : "they were");
	return (most && cut > 0 ? REPORT_BLIND : 0) + 5 * cut + (capture->shortened > 0);
}

/* Nothing is missing in the capture, as far as its connections show. */
static void
report_complete(struct report_finding *finding, const struct report_facts *facts)
{
	const struct report_capture *capture = facts->capture;
	struct report_finding none = {0};

	if (capture->status != 0 || capture->truncated > 0)
		return;
	if (report_gather(&none, facts, report_measure_tcp, REPORT_EVENTS).count == 0)
		report_write(finding, "%sThere is no TCP connection.", report_space(finding));
	else
		report_write(finding,
			     "%sThe capture itself has no gap: it has all data that is acknowledged, and every "
			     "connection begins in it.",
			     report_space(finding));
}

/* Names the parts that the capture lacks.  Returns the weight, 0 if it lacks none. */
static uint64_t
report_gaps(struct report_finding *finding, const struct report_facts *facts)
{
	const struct report_capture *capture = facts->capture;
	uint64_t gaps = report_gather(finding, facts, report_measure_gap, REPORT_EVENTS).count;
	uint64_t one_way = report_count_both(facts, report_measure_gap, report_is_one_way);
	uint64_t lossy = report_count_both(facts, report_measure_gap, report_measure_missing);
	uint64_t midstream = report_count_both(facts, report_measure_gap, report_is_midstream);
	bool has_parts = false;
	uint64_t unreadable = capture->damaged + capture->unsupported, missing = report_count_missing(capture);

	if (capture->dropped + gaps + unreadable == 0) {
		report_complete(finding, facts);
		return 0;
	}
	report_write(finding, "%sThe capture itself has gaps, which are not faults of the network",
		     report_space(finding));
	report_write_part(finding, &has_parts, capture->dropped, "frame was dropped", "frames were dropped");
	report_write_part(finding, &has_parts, lossy, "connection lacks data", "connections lack data");
	if (lossy > 0)
		report_write(finding, " (%" PRIu64 " byte%s that the receiver acknowledges)", missing,
			     report_plural(missing));
	report_write_part(finding, &has_parts, midstream, "connection began before it", "connections began before it");
	report_write_part(finding, &has_parts, one_way, "connection shows one direction only",
			  "connections show one direction only");
	report_write_part(finding, &has_parts, unreadable, "frame cannot be read", "frames cannot be read");
	report_write(finding, ".");
	return 60 * lossy + 25 * (capture->dropped + one_way) + 5 * unreadable + midstream;
}

/* Packets that the capture has twice.  The weight is more than what they may add to other sentences. */
static uint64_t
report_duplicated(struct report_finding *finding, const struct report_capture *capture)
{
	uint64_t packets = capture->duplicates.packets, copies = capture->duplicates.copies;
	unsigned percent = packets > 0 ? (unsigned)((100 * copies + packets / 2) / packets) : 0;

	if (copies < DUPLICATES_MIN || copies * DUPLICATES_SHARE < packets)
		return 0;
	if (percent >= 45 && percent <= 52)
		report_write(finding, "%sAbout half of the packets are duplicates", report_space(finding));
	else
		report_write(finding, "%sAbout %u %% of the packets are duplicates", report_space(finding), percent);
	report_write(finding, ": a mirror port of both directions, or a capture on several interfaces, has them "
			       "twice. They are not retransmissions; the volumes below count them.");
	return 100 + 10 * copies;
}

/* Names the longest pause of all traffic.  A year is rather a clock that was set, or captures of different times. */
static void
report_pause(struct report_finding *finding, const struct report_volume *volume)
{
	double seconds = (double)volume->gap / 1e9;

	if (volume->gap < GAP_NS)
		return;
	report_write(finding, " It is silent for ");
	if (seconds >= YEAR_S)
		report_write(finding, "%.1f years", seconds / YEAR_S);
	else if (seconds >= 2 * DAY_S)
		report_write(finding, "%.1f days", seconds / DAY_S);
	else
		report_write(finding, "%.1f s", seconds);
	report_write(finding, " before packet %" PRIu64, volume->gap_at);
	if (seconds >= YEAR_S)
		report_write(finding, ": the clock was set, or captures of different times are merged");
	report_write(finding, ".");
}

/* Names pauses and wrong time stamps.  Returns the weight. */
static uint64_t
report_oddities(struct report_finding *finding, const struct report_capture *capture)
{
	const struct report_volume *volume = &capture->volume;

	report_pause(finding, volume);
	if (volume->stray == 1)
		report_write(finding,
			     " Packet %" PRIu64 " has a time stamp far from those around it, and is not on the "
			     "time axes.",
			     volume->stray_at);
	else if (volume->stray > 1)
		report_write(finding,
			     " %" PRIu64 " packets, packet %" PRIu64
			     " the first, have time stamps far from those around "
			     "them, and are not on the time axes.",
			     volume->stray, volume->stray_at);
	return 5 * volume->stray;
}

void
report_find_capture(struct report_finding *finding, const struct report_facts *facts)
{
	const struct report_capture *capture = facts->capture;

	if (capture->status != 0) {
		finding->cost_us += REPORT_BLIND;
		report_write(finding, "The capture is damaged or incomplete, and this page ends where it breaks off.");
	}
	if (capture->volume.frames == 0) {
		finding->cost_us += REPORT_BLIND;
		report_write(finding, "There is no packet: nothing was captured, or nothing passes the filter.");
		return;
	}
	finding->cost_us += report_truncated(finding, capture);
	finding->cost_us += report_duplicated(finding, capture);
	finding->cost_us += report_gaps(finding, facts);
	finding->cost_us += report_oddities(finding, capture);
	if (capture->failures.dropped == 0)
		return;
	finding->cost_us += REPORT_BLIND;
	report_write(finding,
		     "%sThere are more names and servers in DNS, HTTP, TLS and ICMP errors than are told apart",
		     report_space(finding));
	report_write(finding, ": %" PRIu64 " message%s not judged.", capture->failures.dropped,
		     capture->failures.dropped == 1 ? " was" : "s were");
}
