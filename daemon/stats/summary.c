/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/output.h"
#include "daemon/stats/counters.h"
#include "formulas/formula_set.h"
#include "probes/site/site_select.h"

/* Longest wait at the end of a run for the reader of standard error. */
#define SUMMARY_WAIT_MS 200

static void
summary_write_line(void *to, const char *group, const char *name, uint64_t value)
{
	fprintf(to, "%s%s %llu\n", group, name, (unsigned long long)value);
}

static void
summary_write_formulas(void *to, struct workers *workers)
{
	workers_pause(workers);
	for (unsigned i = 0; workers->formulas != NULL && i < formula_set_count(workers->formulas); i++) {
		struct formula_status status = formula_set_status(workers->formulas, i);

		fprintf(to, "formula.%s.seen %llu\nformula.%s.matched %llu\n", formula_name(status.formula),
			(unsigned long long)status.seen, formula_name(status.formula),
			(unsigned long long)status.matched);
	}
	workers_resume(workers);
}

/* The counters as text, to be freed; NULL, with a message logged, if out of memory. */
static char *
summary_make_text(struct workers *workers, size_t *size)
{
	struct stats_totals totals;
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	if (to != NULL) {
		stats_collect(workers, &totals);
		counters_visit(&totals, summary_write_line, to);
		summary_write_formulas(to, workers);
		fprintf(to, "probe-site %s\n", site_kind_name(site_selected()));
	}
	if (to != NULL && fclose(to) == 0)
		return text;
	free(text);
	log_warning("out of memory");
	return NULL;
}

bool
summary_write(struct workers *workers)
{
	size_t size = 0, written = 0;
	char *text = summary_make_text(workers, &size);
	bool good;

	if (text == NULL)
		return false;
	progress_erase();
	errno = 0;
	written = output_write_within(output_fd(OUTPUT_STDERR), text, size, SUMMARY_WAIT_MS);
	good = written == size || errno == EPIPE;
	free(text);
	return good;
}

void
summary_write_now(struct workers *workers)
{
	size_t size = 0;
	char *text = summary_make_text(workers, &size);

	if (text != NULL)
		log_write_lines(text);
	free(text);
}
