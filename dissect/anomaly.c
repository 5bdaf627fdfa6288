/* SPDX-License-Identifier: BSD-2-Clause */
#include "dissect/anomaly.h"

static const struct {
	const char *word;
	enum severity severity;
} table[ANOMALY_COUNT] = {
	[ANOMALY_NONE] = {"", SEVERITY_UNUSUAL},
#define ANOMALY(symbol, the_word, the_severity, the_text) [ANOMALY_##symbol] = {the_word, the_severity},
#include "dissect/anomaly.def"
#undef ANOMALY
};

/* pkt_reason is char[32]: a word that does not fit fails to compile. */
#define ANOMALY(symbol, the_word, the_severity, the_text) \
	_Static_assert(sizeof the_word <= 32, "the word of " #symbol " is too long");
#include "dissect/anomaly.def"
#undef ANOMALY

static unsigned
anomaly_row(enum anomaly a)
{
	return (unsigned)a < ANOMALY_COUNT ? (unsigned)a : ANOMALY_NONE;
}

const char *
anomaly_name(enum anomaly a)
{
	return table[anomaly_row(a)].word;
}

enum severity
anomaly_severity(enum anomaly a)
{
	return table[anomaly_row(a)].severity;
}
