/* SPDX-License-Identifier: BSD-2-Clause */
/* One realistic argument of every kind, for tests of tracers and of the printer. */
#ifndef NETOBS_TESTS_PROBES_PROBE_ARGS_SAMPLE_H
#define NETOBS_TESTS_PROBES_PROBE_ARGS_SAMPLE_H

#include "probes/manifest.h"
#include "probes/netobs.h"

/* One member for each struct of netobs.h, named like its tag. */
struct probe_args_sample {
#define SAMPLE_MEMBER(id, tag) struct tag tag;
	STRUCT_ROWS(SAMPLE_MEMBER)
#undef SAMPLE_MEMBER
};

void probe_args_sample_fill(struct probe_args_sample *sample);

/* The sample of a struct. */
const void *probe_args_sample_get(const struct probe_args_sample *sample, enum struct_id id);

/* The arguments that probe `id` would have. */
void probe_args_sample_args(const struct probe_args_sample *sample, enum probe_id id, const void *args[6]);

#endif
