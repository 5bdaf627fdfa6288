/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * configure --disable-probes: the program without probe sites and without tests for enabled probes.  Only for measuring
 * the cost of probes that are not enabled (bench/run.py, row "probes").
 */
#ifndef NETOBS_USDT_SITE_DISABLED_H
#define NETOBS_USDT_SITE_DISABLED_H

/* Whether the program has probe sites. */
#ifdef NETOBS_NO_PROBES
#define PROBES_BUILT 0
#undef PROBE_ENABLED
#define PROBE_ENABLED(name) 0

#undef PROBE_SITE1
#undef PROBE_SITE2
#undef PROBE_SITE3
#undef PROBE_SITE4
#undef PROBE_SITE5
#undef PROBE_SITE6
#define PROBE_SITE1(name, a)		    ((void)(a))
#define PROBE_SITE2(name, a, b)		    ((void)(a), (void)(b))
#define PROBE_SITE3(name, a, b, c)	    ((void)(a), (void)(b), (void)(c))
#define PROBE_SITE4(name, a, b, c, d)	    ((void)(a), (void)(b), (void)(c), (void)(d))
#define PROBE_SITE5(name, a, b, c, d, e)    ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#define PROBE_SITE6(name, a, b, c, d, e, f) ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e), (void)(f))

#undef PROBE_PLAIN_SITE1
#undef PROBE_PLAIN_SITE2
#undef PROBE_PLAIN_SITE3
#undef PROBE_PLAIN_SITE4
#undef PROBE_PLAIN_SITE5
#undef PROBE_PLAIN_SITE6
#define PROBE_PLAIN_SITE1(provider, name, a)		 ((void)(a))
#define PROBE_PLAIN_SITE2(provider, name, a, b)		 ((void)(a), (void)(b))
#define PROBE_PLAIN_SITE3(provider, name, a, b, c)	 ((void)(a), (void)(b), (void)(c))
#define PROBE_PLAIN_SITE4(provider, name, a, b, c, d)	 ((void)(a), (void)(b), (void)(c), (void)(d))
#define PROBE_PLAIN_SITE5(provider, name, a, b, c, d, e) ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#define PROBE_PLAIN_SITE6(provider, name, a, b, c, d, e, f) \
	((void)(a), (void)(b), (void)(c), (void)(d), (void)(e), (void)(f))

#else
#define PROBES_BUILT 1
#endif

#endif
