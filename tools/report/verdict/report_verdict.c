/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_verdict.h"

#include <stdlib.h>
#include <string.h>

#include "tools/report/verdict/report_sentences.h"

/* qsort(): most weight first, then the order in which they are made. */
static int
report_sentence_compare(const void *a, const void *b)
{
	const struct report_sentence *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void
report_verdict_make(struct report_sentence *sentences, const struct report_capture *capture)
{
	static report_make_sentence *const make[REPORT_SENTENCES] = {
	    report_quality,	    report_no_answer, report_rejected,	 report_half_open,
	    report_refused,	    report_resets,    report_dns,	 report_unanswered_requests,
	    report_silent,	    report_answers,   report_handshakes, report_windows,
	    report_retransmissions, report_clients};

	for (size_t i = 0; i < REPORT_SENTENCES; i++) {
		memset(&sentences[i], 0, sizeof(sentences[i]));
		sentences[i].order = i;
		make[i](&sentences[i], capture);
	}
	qsort(sentences, REPORT_SENTENCES, sizeof(*sentences), report_sentence_compare);
}
