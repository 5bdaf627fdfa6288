/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdict: sentences on the capture, in order of weight. */
#ifndef NETOBS_REPORT_VERDICT_H
#define NETOBS_REPORT_VERDICT_H

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

#endif
