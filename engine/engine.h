/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private provider netobs_engine: engine.def has its probes.  Each has a function that fires it if it is
 * enabled, engine_batch_start(worker, frames, oldest), and one that returns whether it is enabled,
 * engine_batch_start_enabled(); call the latter first if an argument is expensive.  A probe that is not enabled costs
 * one load and one compare.
 */
#ifndef NETOBS_ENGINE_ENGINE_H
#define NETOBS_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usdt/site.h"
#include "usdt/site_disabled.h"

/* Arguments are passed to a site as pointers, so that its operands are those of the provider netobs. */
#define ENGINE_NUMBER(x) ((const void *)(uintptr_t)(x))

#define ENGINE_DECLARE(site, name) \
	PROBE_DECLARE(engine_##site); \
	static inline bool engine_##name##_enabled(void) \
	{ \
		return PROBE_ENABLED(engine_##site); \
	}

#define ENGINE_PROBE1(site, name, text, a, a_text) \
	ENGINE_DECLARE(site, name) \
	void site_engine_##site(const void *a); \
	static inline void engine_##name(uint64_t a) \
	{ \
		if (PROBE_ENABLED(engine_##site)) \
			site_engine_##site(ENGINE_NUMBER(a)); \
	}
#define ENGINE_PROBE2(site, name, text, a, a_text, b, b_text) \
	ENGINE_DECLARE(site, name) \
	void site_engine_##site(const void *a, const void *b); \
	static inline void engine_##name(uint64_t a, uint64_t b) \
	{ \
		if (PROBE_ENABLED(engine_##site)) \
			site_engine_##site(ENGINE_NUMBER(a), ENGINE_NUMBER(b)); \
	}
#define ENGINE_PROBE3(site, name, text, a, a_text, b, b_text, c, c_text) \
	ENGINE_DECLARE(site, name) \
	void site_engine_##site(const void *a, const void *b, const void *c); \
	static inline void engine_##name(uint64_t a, uint64_t b, uint64_t c) \
	{ \
		if (PROBE_ENABLED(engine_##site)) \
			site_engine_##site(ENGINE_NUMBER(a), ENGINE_NUMBER(b), ENGINE_NUMBER(c)); \
	}
#define ENGINE_PROBE6(site, name, text, a, a_text, b, b_text, c, c_text, d, d_text, e, e_text, f, f_text) \
	ENGINE_DECLARE(site, name) \
	void site_engine_##site(const void *a, const void *b, const void *c, const void *d, const void *e, \
				const void *f); \
	static inline void engine_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) \
	{ \
		if (PROBE_ENABLED(engine_##site)) \
			site_engine_##site(ENGINE_NUMBER(a), ENGINE_NUMBER(b), ENGINE_NUMBER(c), ENGINE_NUMBER(d), \
					   ENGINE_NUMBER(e), ENGINE_NUMBER(f)); \
	}

#include "engine/engine.def"

#undef ENGINE_PROBE1
#undef ENGINE_PROBE2
#undef ENGINE_PROBE3
#undef ENGINE_PROBE6

/* The reasons of slow-path. */
enum engine_slow_reason {
	ENGINE_SLOW_TRACED = 1,
	ENGINE_SLOW_HEADERS,
	ENGINE_SLOW_TRANSPORT,
	ENGINE_SLOW_NEW,
	ENGINE_SLOW_APPLICATION,
	ENGINE_SLOW_LOCALITY,
	ENGINE_SLOW_LOWER,
	ENGINE_SLOW_SEGMENT,
	ENGINE_SLOW_REPORTED,
	ENGINE_SLOW_TIMER,
};

/* The layers of layer-enter and layer-leave. */
enum engine_layer {
	ENGINE_LAYER_NETWORK = 1,
	ENGINE_LAYER_TRANSPORT_SENT,
	ENGINE_LAYER_TRANSPORT_RECEIVED,
	ENGINE_LAYER_APPLICATION,
};

struct engine_argument {
	const char *name; /* "frames" */
	const char *text; /* description, one line */
};

struct engine_probe {
	const char *c_name; /* "batch__start", as in the note; "batch-start" in D */
	const char *text;   /* when it fires, one line */
	unsigned arg_count; /* 1 to 6 */
	struct engine_argument args[6];
	volatile union probe_semaphore *semaphore;
};

/* The probes in the order of engine.def. */
extern const struct engine_probe engine_probes[];
extern const size_t engine_probe_count;

/* Whether there is a probe of this name, in D's spelling: "batch-start". */
bool engine_has_probe(const char *name);

/* Sum of the tracers of the probes: 0 while no probe is traced; changes whenever a probe is traced that was not, or no
 * longer. */
unsigned engine_tracers(void);

/* Whether a probe that follows single packets is enabled: then all frames take the slow path. */
static inline bool
engine_follows_packets(void)
{
	return engine_layer_enter_enabled() || engine_layer_leave_enabled() || engine_flow_found_enabled() ||
	       engine_flow_born_enabled();
}

#endif
