/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formulas: probes that are defined at run time.
 *
 *	slow-handshake = tcp-connect-established where tcps_srtt_us > 100ms
 *
 * names a firing of one of the listed probes for which the expression is true.  netobs(7), FORMULAS, has the language.
 * A compiled formula is constant, so that all threads may read it; what changes with the traffic is in its
 * struct formula_threshold and in the counters of a struct formula_set.
 */
#ifndef NETOBS_FORMULAS_FORMULA_H
#define NETOBS_FORMULAS_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/firing.h"
#include "probes/manifest.h"

#define FORMULA_NAME_MAX 40   /* bytes of a name, without the NUL */
#define FORMULA_TEXT_MAX 2048 /* bytes of a definition, without the NUL */

struct formula;

struct formula_error {
	unsigned line, column; /* of the mistake in the text, from 1; columns count bytes */
	char message[256];     /* what is wrong and what would be right, without full stop */
};

/* Compiles a definition; NULL with `error` if it has a mistake or memory is short. */
struct formula *formula_compile(const char *text, struct formula_error *error);

/* Like formula_compile(), for firings of connection-end whose args[0] is a struct with more fields after those of
 * struct connrec. */
struct formula *formula_compile_rows(const char *text, const struct struct_info *row, struct formula_error *error);
void formula_free(struct formula *formula);

/* A formula that is true for each firing of a probe, and has the probe's name, which no definition can have.  NULL if
 * out of memory. */
struct formula *formula_new_for_probe(enum probe_id probe);

/* "slow-handshake". */
const char *formula_name(const struct formula *formula);

/* The definition, as given. */
const char *formula_text(const struct formula *formula);

/* Whether it names a probe. */
bool formula_has_probe(const struct formula *formula, enum probe_id probe);

/* Likewise, also after "no". */
bool formula_reads_probe(const struct formula *formula, enum probe_id probe);

/* Whether it is evaluated while nothing has enabled it: as "counted" or "uncounted" in the definition says, by default
 * unless one of its probes fires for every packet. */
bool formula_is_counted(const struct formula *formula);

/* Whether one of the probes that it reads fires for every packet: then every packet pays for its evaluation. */
bool formula_is_per_packet(const struct formula *formula);

/* Whether the expression is true for a firing of one of the formula's probes.  Builds only the arguments that it reads;
 * allocates nothing; the time is bounded by the length of the definition. */
bool formula_is_true(const struct formula *formula, struct firing *firing);

/* Describes a match: the formula and the values of the fields that it reads, as --print's text shows them, in the order
 * of the definition: "slow-handshake: tcps_srtt_us = 180231 us, ip_saddr = 192.0.2.1"; "-" if the argument is absent;
 * with a threshold ", the 5th in 10s" follows, with a wait ", held for 5s".  At most `size` bytes with the NUL: fields
 * that do not fit are left out, which "..." shows.  Builds only the arguments that the definition reads. */
void formula_describe_match(const struct formula *formula, struct firing *firing, char *text, size_t size);

/* Whether the definition ends in "N times in DURATION" or "N distinct FIELD in DURATION". */
bool formula_has_threshold(const struct formula *formula);

/* Whether it ends in "for DURATION" or "no PROBE within DURATION": then it is true later than its expression, and
 * formula_is_true() is for the probes before these words only. */
bool formula_has_wait(const struct formula *formula);

#endif
