/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that make the sentences of the verdict, by the files that have them. */
#ifndef NETOBS_REPORT_SENTENCES_H
#define NETOBS_REPORT_SENTENCES_H

#include "tools/report/verdict/report_sentence.h"

/* Makes one sentence: its topic, weight, text and evidence.  Without a finding the text of some sentences is empty. */
typedef void report_make_sentence(struct report_sentence *sentence, const struct report_capture *capture);

/* report_quality.c */
report_make_sentence report_quality;

/* report_quality.c: whether the capture shows one direction of most TCP connections only. */
bool report_capture_is_one_way(const struct report_capture *capture);

/* report_quality.c: whether it shows one direction of a TCP connection only; an attempt without an answer is none. */
uint64_t report_is_one_way(const struct report_record *record);

/* report_endings.c */
report_make_sentence report_refused, report_resets;

/* report_opening.c */
report_make_sentence report_no_answer, report_rejected, report_half_open, report_handshakes;

/* report_slow_answers.c */
report_make_sentence report_answers;

/* report_answering.c */
report_make_sentence report_unanswered_requests, report_silent, report_dns, report_clients;

/* report_transfer.c */
report_make_sentence report_windows, report_retransmissions;

#endif
