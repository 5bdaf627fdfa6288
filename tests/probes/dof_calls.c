/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe sites of configure --with-dtrace, with counting functions in place of DTrace: a probe that DTrace traces
 * has a raised semaphore and fires once, and a query fires nothing.  tests/probes/dof.sh generates dof_calls.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "probes/sites.h"

static bool traced[PROBE_COUNT];
static unsigned fired[PROBE_COUNT], queried[PROBE_COUNT];

/* Stand-ins for the calls that DTrace replaces. */
#define PROBE(id, name) \
	void __dtrace_netobs___##name(void) \
	{ \
		fired[id]++; \
	} \
	void __dtraceenabled_netobs___##name(uint32_t *flag) \
	{ \
		queried[id]++; \
		if (traced[id]) \
			*flag = 1; \
	}
#include "dof_calls.h"

static unsigned failures;

static void
expect(const char *what, enum probe_id probe, unsigned is, unsigned wanted)
{
	if (is == wanted)
		return;
	printf("%s, probe %u: %u, not %u\n", what, (unsigned)probe, is, wanted);
	failures++;
}

/* Only `one` (PROBE_COUNT: none) may have a raised semaphore. */
static void
check_semaphores(const char *when, enum probe_id one)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		expect(when, (enum probe_id)i, *probe_semaphores[i], i == one);
}

int
main(void)
{
	const void *const args[6] = {"", "", "", "", "", ""};

	site_sync_dtrace();
	check_semaphores("semaphore before", PROBE_COUNT);
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		traced[i] = true;
		site_sync_dtrace();
		site_sync_dtrace();
		check_semaphores("semaphore while traced", (enum probe_id)i);
		expect("fired by a query", (enum probe_id)i, fired[i], 0);
		site_fire((enum probe_id)i, args);
		expect("fired", (enum probe_id)i, fired[i], 1);
		traced[i] = false;
		site_sync_dtrace();
		check_semaphores("semaphore after", PROBE_COUNT);
		expect("queried", (enum probe_id)i, queried[i], 1 + 3 * (i + 1));
	}
	return failures != 0;
}
