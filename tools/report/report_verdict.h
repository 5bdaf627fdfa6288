/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdict: sentences on the capture, in order of weight, each with what it counts and its evidence. */
#ifndef NETOBS_TOOLS_REPORT_REPORT_VERDICT_H
#define NETOBS_TOOLS_REPORT_REPORT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_capture.h"

/* Sentences, of which those without a text are not shown. */
#define REPORT_SENTENCES 14u

struct report_evidence {
	size_t record;	/* index in the sorted records */
	uint64_t frame; /* number of the frame to which the link goes; 0 none */
	char text[128]; /* names its packets; "" none */
};

struct report_sentence {
	const char *topic; /* constant word, the id of the sentence in the page */
	uint64_t weight;   /* 0: nothing found */
	size_t order;
	char text[1024]; /* JSON without quotes */
	bool has_parts;	 /* a part of its list is written */
	struct report_evidence evidence[REPORT_EVIDENCE];
	size_t evidence_count;
};

/* Fills REPORT_SENTENCES sentences, the one with most weight first. */
void report_verdict_make(struct report_sentence *sentences, const struct report_capture *capture);

/* The amount that a record shows of the subject of a sentence; 0: nothing. */
typedef uint64_t (*report_measure)(const struct report_record *record);

/* Appends to the text. */
void report_write(struct report_sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a duration. */
void report_write_time(struct report_sentence *sentence, uint64_t us);

/* Appends that nothing was slow, and the longest time, us; or that no time was measured. */
void report_write_longest(struct report_sentence *sentence, const char *what, const char *none, uint64_t longest);

/* Appends a part of the list of a sentence, which has one at most, unless its count is 0; the first part follows a
 * colon. */
void report_write_part(struct report_sentence *sentence, uint64_t count, const char *one, const char *many);

/* Appends the server of the first connection of the evidence, after `before`. */
void report_write_worst(struct report_sentence *sentence, const struct report_capture *capture, const char *before);

/* The separator before the next sentence of a text: a space, unless the text is empty. */
const char *report_space(const struct report_sentence *sentence);

/* An ICMP error in words, those of cr_icmp_str. */
const char *report_rejection_words(const struct report_rejection *rejection);

/* Appends the address that sent an ICMP error. */
void report_write_sender(struct report_sentence *sentence, const struct report_rejection *rejection);

/* Appends the sender of an ICMP error and the error in words, after `before`, if there is one. */
void report_write_rejection(struct report_sentence *sentence, const struct report_rejection *rejection,
			    const char *before);

/* The end of a noun after a number. */
const char *report_plural(uint64_t number);

/* Makes a packet the evidence, unless the number of its frame is 0. */
void report_set_packet(struct report_evidence *evidence, uint64_t frame);

/* Counts the records that the measure finds.  Those with the largest measures become the evidence, with the packet of
 * the event. */
uint64_t report_gather(struct report_sentence *sentence, const struct report_capture *capture, report_measure measure,
		       enum report_event event);

/* Counts the records that both measures find. */
uint64_t report_count_both(const struct report_capture *capture, report_measure one, report_measure other);

/* Makes one sentence: its topic, weight, text and evidence.  Without a finding the text of some sentences is empty. */
typedef void report_make_sentence(struct report_sentence *sentence, const struct report_capture *capture);

/* Whether the capture shows one direction of most TCP connections only. */
bool report_capture_is_one_way(const struct report_capture *capture);

/* Whether it shows one direction of a TCP connection only, which an attempt without an answer does not. */
uint64_t report_is_one_way(const struct report_record *record);

/* report_verdict_connections.c */
report_make_sentence report_no_answer, report_rejected, report_half_open, report_handshakes, report_refused,
    report_resets;

/* report_verdict_answers.c */
report_make_sentence report_answers, report_unanswered_requests, report_silent, report_dns, report_clients,
    report_windows, report_retransmissions;

#endif
