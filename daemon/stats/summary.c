/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/summary.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/output.h"
#include "daemon/base/progress.h"
#include "daemon/stats/counters.h"
#include "formulas/formula_set.h"
#include "probes/site/site_select.h"

/* Longest wait for the reader of standard error; capture waits meanwhile. */
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

void
summary_write(struct workers *workers)
{
	struct stats_totals totals;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL) {
		log_warning("out of memory");
		return;
	}
	stats_collect(workers, &totals);
	counters_visit(&totals, summary_write_line, to);
	summary_write_formulas(to, workers);
	fprintf(to, "probe-site %s\n", site_kind_name(site_selected()));
	progress_erase();
	if (fclose(to) == 0)
		(void)output_write_within(output_fd(OUTPUT_STDERR), text, size, SUMMARY_WAIT_MS);
	free(text);
}
