/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentences.h"

#include <inttypes.h>

static uint64_t
report_is_refused(const struct report_record *record)
{
	return record->reason == REPORT_REFUSED;
}

void
report_refused(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_refused, REPORT_RESET);

	sentence->topic = "refused";
	sentence->weight = 40 * count;
	if (count == 0) {
		report_write(sentence, "No connection was refused.");
		return;
	}
	report_write(sentence, "%" PRIu64 " connection%s refused: nothing listens there, or a firewall rejects them",
		     count, count == 1 ? " was" : "s were");
	report_write_worst(sentence, capture, "; for example by ");
	report_write(sentence, ".");
}

static uint64_t
report_is_reset_by_server(const struct report_record *record)
{
	return record->reason == REPORT_RESET_SERVER;
}

static uint64_t
report_is_reset(const struct report_record *record)
{
	return record->reason == REPORT_RESET_CLIENT || record->reason == REPORT_RESET_SERVER;
}

/* Closing and then refusing what the other end still sends is how many programs end. */
static uint64_t
report_is_reset_after_fin(const struct report_record *record)
{
	unsigned end = record->reason == REPORT_RESET_CLIENT ? REPORT_CLIENT : REPORT_SERVER;

	return report_is_reset(record) && (record->ends[end].flags & REPORT_FLAG_FIN) != 0;
}

/* Some programs answer the FIN of the other end with a RST instead of their own. */
static uint64_t
report_is_reset_after_peer(const struct report_record *record)
{
	unsigned peer = record->reason == REPORT_RESET_CLIENT ? REPORT_SERVER : REPORT_CLIENT;

	return report_is_reset(record) && report_is_reset_after_fin(record) == 0 &&
	       (record->ends[peer].flags & REPORT_FLAG_FIN) != 0;
}

/* Connections that were closing already. */
static uint64_t
report_is_reset_late(const struct report_record *record)
{
	return report_is_reset_after_fin(record) + report_is_reset_after_peer(record);
}

/* A client that answers the SYN-ACK with RST, as scanners do, or a server that never was established: it resets what
 * its full queue does not take, or its client gives up. */
static uint64_t
report_is_reset_half_open(const struct report_record *record)
{
	bool untaken = record->handshake_us < 0 && (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_SYN) != 0 &&
		       (record->ends[REPORT_SERVER].flags & (REPORT_FLAG_SYN | REPORT_FLAG_FIN)) == REPORT_FLAG_SYN &&
		       record->ends[REPORT_SERVER].bytes == 0;

	return report_is_reset(record) && record->opened &&
	       (untaken ||
		(record->reason == REPORT_RESET_CLIENT && (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_ACK) == 0));
}

/* The evidence begins with those that a server has reset in the middle. */
static uint64_t
report_measure_reset(const struct report_record *record)
{
	uint64_t in_the_middle = report_is_reset_late(record) > 0 ? 0 : 2;

	return report_is_reset(record) > 0 ? 1 + in_the_middle + report_is_reset_by_server(record) : 0;
}

void
report_resets(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_reset, REPORT_RESET);
	uint64_t by_server = report_count_both(capture, report_measure_reset, report_is_reset_by_server);
	uint64_t after_fin = report_count_both(capture, report_measure_reset, report_is_reset_after_fin);
	uint64_t after_peer = report_count_both(capture, report_measure_reset, report_is_reset_after_peer);
	uint64_t server_late = report_count_both(capture, report_is_reset_by_server, report_is_reset_late);
	uint64_t half_open = report_count_both(capture, report_measure_reset, report_is_reset_half_open);

	sentence->topic = "reset";
	sentence->weight =
	    10 * (count - after_fin - after_peer) + 30 * (by_server - server_late) + after_fin + after_peer;
	if (count == 0) {
		report_write(sentence, "No connection was reset.");
		return;
	}
	report_write(sentence,
		     "%" PRIu64 " connection%s reset, %" PRIu64 " by the client and %" PRIu64 " by the server", count,
		     count == 1 ? " was" : "s were", count - by_server, by_server);
	report_write_part(sentence, half_open, "before it was established", "before they were established");
	report_write_part(sentence, after_fin,
			  "after its own FIN, because the program had closed already, which is usually harmless",
			  "after their own FIN, because the program had closed already, which is usually harmless");
	report_write_part(sentence, after_peer, "after the FIN of the other end, as some programs close",
			  "after the FIN of the other end, as some programs close");
	report_write_worst(sentence, capture, "; for example with ");
	report_write(sentence, ".");
}
