/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/site_table.h"

struct watched_site {
	const struct probe_site *site;
	bool marked;
};

static struct watched_site watched[SITE_WATCH_MAX];
static size_t watched_count;

#ifdef PROBE_HAS_TABLE

/* The linker defines both, if the program has a site. */
extern const struct probe_site __start_netobs_sites[] __attribute__((weak, visibility("hidden")));
extern const struct probe_site __stop_netobs_sites[] __attribute__((weak, visibility("hidden")));

struct site_table
site_table_of_program(void)
{
	return (struct site_table){__start_netobs_sites, (size_t)(__stop_netobs_sites - __start_netobs_sites)};
}

#else

struct site_table
site_table_of_program(void)
{
	return (struct site_table){NULL, 0};
}

#endif

static bool
site_is_of_kind(const struct probe_site *site, bool fast)
{
#ifdef PROBE_HAS_FAST_SITE
	return (site->untraced == PROBE_BYTE_FAST) == fast;
#else
	(void)site;
	return !fast;
#endif
}

const struct probe_site *
site_table_find(const struct site_table *table, const volatile union probe_semaphore *semaphore, bool fast)
{
	const struct probe_site *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].semaphore != semaphore)
			continue;
		found = &table->rows[i];
		if (site_is_of_kind(found, fast))
			break;
	}
	return found;
}

bool
site_watch_add(const struct probe_site *site)
{
	if (watched_count == SITE_WATCH_MAX)
		return false;
	watched[watched_count++] = (struct watched_site){.site = site};
	return true;
}

static void
site_mark(struct watched_site *watch, bool has_uprobe)
{
	volatile unsigned short *marked = &watch->site->semaphore->formulas;

	if (watch->marked == has_uprobe)
		return;
	watch->marked = has_uprobe;
	if (has_uprobe)
		__atomic_fetch_or(marked, PROBE_UPROBE, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(marked, (unsigned short)~PROBE_UPROBE, __ATOMIC_RELAXED);
}

void
site_watch_poll(void)
{
	for (size_t i = 0; i < watched_count; i++)
		site_mark(&watched[i], *watched[i].site->address != watched[i].site->untraced);
}

void
site_watch_end(void)
{
	for (size_t i = 0; i < watched_count; i++)
		site_mark(&watched[i], false);
	watched_count = 0;
}
