/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/engine.h"

#define ENGINE_PROBE1(site, name, text, a, a_text) \
	PROBE_DEFINE(engine_##site); \
	PROBE_FUNCTION void site_engine_##site(const void *a) \
	{ \
		PROBE_PLAIN_SITE1(netobs_engine, site, a); \
	}
#define ENGINE_PROBE2(site, name, text, a, a_text, b, b_text) \
	PROBE_DEFINE(engine_##site); \
	PROBE_FUNCTION void site_engine_##site(const void *a, const void *b) \
	{ \
		PROBE_PLAIN_SITE2(netobs_engine, site, a, b); \
	}
#define ENGINE_PROBE3(site, name, text, a, a_text, b, b_text, c, c_text) \
	PROBE_DEFINE(engine_##site); \
	PROBE_FUNCTION void site_engine_##site(const void *a, const void *b, const void *c) \
	{ \
		PROBE_PLAIN_SITE3(netobs_engine, site, a, b, c); \
	}
#define ENGINE_PROBE6(site, name, text, a, a_text, b, b_text, c, c_text, d, d_text, e, e_text, f, f_text) \
	PROBE_DEFINE(engine_##site); \
	PROBE_FUNCTION void site_engine_##site(const void *a, const void *b, const void *c, const void *d, \
					       const void *e, const void *f) \
	{ \
		PROBE_PLAIN_SITE6(netobs_engine, site, a, b, c, d, e, f); \
	}

#include "engine/engine.def"

#undef ENGINE_PROBE1
#undef ENGINE_PROBE2
#undef ENGINE_PROBE3
#undef ENGINE_PROBE6

/* A row of engine_probes. */
#define ENGINE_ROW(site, text, count, ...) {#site, text, count, {__VA_ARGS__}, &PROBE_SEMAPHORE(engine_##site)},

#define ENGINE_PROBE1(site, name, text, a, a_text)	      ENGINE_ROW(site, text, 1, {#a, a_text})
#define ENGINE_PROBE2(site, name, text, a, a_text, b, b_text) ENGINE_ROW(site, text, 2, {#a, a_text}, {#b, b_text})
#define ENGINE_PROBE3(site, name, text, a, a_text, b, b_text, c, c_text) \
	ENGINE_ROW(site, text, 3, {#a, a_text}, {#b, b_text}, {#c, c_text})
#define ENGINE_PROBE6(site, name, text, a, a_text, b, b_text, c, c_text, d, d_text, e, e_text, f, f_text) \
	ENGINE_ROW(site, text, 6, {#a, a_text}, {#b, b_text}, {#c, c_text}, {#d, d_text}, {#e, e_text}, {#f, f_text})

const struct engine_probe engine_probes[] = {
#include "engine/engine.def"
};

const size_t engine_probe_count = sizeof engine_probes / sizeof engine_probes[0];

/* Whether the name is the C name, with "-" for each "__". */
static bool
engine_name_is(const char *c_name, const char *name)
{
	for (; *c_name != '\0' && *name != '\0'; c_name++, name++) {
		bool is_hyphen = c_name[0] == '_' && c_name[1] == '_';

		if (*name != (is_hyphen ? '-' : *c_name))
			return false;
		c_name += is_hyphen;
	}
	return *c_name == *name;
}

bool
engine_has_probe(const char *name)
{
	for (size_t i = 0; i < engine_probe_count; i++)
		if (engine_name_is(engine_probes[i].c_name, name))
			return true;
	return false;
}

unsigned
engine_tracers(void)
{
	unsigned sum = 0;

	for (size_t i = 0; i < engine_probe_count; i++)
		sum += probe_tracers(engine_probes[i].semaphore);
	return sum;
}
