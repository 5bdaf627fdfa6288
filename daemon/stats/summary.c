/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/summary.h"

#include "daemon/stats/counters.h"
#include "probes/site/site_select.h"

static void
summary_write_line(void *to, const char *group, const char *name, uint64_t value)
{
	fprintf(to, "%s%s %llu\n", group, name, (unsigned long long)value);
}

void
summary_write(FILE *to, struct workers *workers)
{
	struct stats_totals totals;

	stats_collect(workers, &totals);
	counters_visit(&totals, summary_write_line, to);
	fprintf(to, "probe-site %s\n", site_kind_name(site_selected()));
	fflush(to);
}
