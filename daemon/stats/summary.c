/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/summary.h"

#include "daemon/stats/stats.h"
#include "probes/site/site_select.h"

static void
summary_write_line(void *to, const char *group, const char *name, uint64_t value)
{
	fprintf(to, "%s%s %llu\n", group, name, (unsigned long long)value);
}

void
summary_write(FILE *to, struct workers *workers)
{
	stats_visit_counters(workers, summary_write_line, to);
	fprintf(to, "probe-site %s\n", site_kind_name(site_selected()));
	fflush(to);
}
