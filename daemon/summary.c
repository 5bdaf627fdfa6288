/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/summary.h"

#include "daemon/insight.h"
#include "probes/site_choice.h"

static void
line(void *to, const char *group, const char *name, uint64_t value)
{
	fprintf(to, "%s%s %llu\n", group, name, (unsigned long long)value);
}

void
summary_write(FILE *to, struct workers *workers)
{
	insight_counters(workers, line, to);
	fprintf(to, "probe-site %s\n", site_word(site_chosen()));
	fflush(to);
}
