/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manifest: every probe, argument, struct and field as tables.  manifest.awk generates them from netobs.d and
 * netobs.h, so they cannot disagree.  Used by --list-probes, the printer, wildcards and tests.
 */
#ifndef NETOBS_PROBES_MANIFEST_H
#define NETOBS_PROBES_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/probe_ids.h"

/* Kind of a field's content. */
enum field_kind {
	FIELD_UNSIGNED, /* 1, 2, 4 or 8 bytes */
	FIELD_SIGNED,   /* 1, 4 or 8 bytes */
	FIELD_NETWORK,  /* 4 bytes, unsigned, in network byte order */
	FIELD_TEXT,     /* char[size], ended by a NUL */
	FIELD_BYTES,    /* uint8_t[size] */
	FIELD_POINTER,  /* an address, 8 bytes; meaningless outside the process */
};

/* Unit of a number: the end of its name, or its comment, has it. */
enum field_unit {
	UNIT_NONE,
	UNIT_NS,
	UNIT_US,
	UNIT_MS,
	UNIT_BYTES,
};

/* A number of a state, a flag or a kind. */
struct word_info {
	const char *name; /* "NETOBS_TCP_FIN_WAIT_1" */
	const char *word; /* "fin-wait-1" */
	int64_t value;
};

/* An enum of netobs.h: the numbers of a field. */
struct enum_info {
	const char *field;  /* "tcps_state"; the first of several */
	const char *prefix; /* of all its names: "NETOBS_TCP_" */
	const struct word_info *words;
	size_t word_count;
};

struct field_info {
	const char *name; /* "tcp_sport" */
	const char *type; /* "uint16_t", "char[46]", "uint8_t[6]" or "pointer" */
	const char *doc;  /* one line, for --list-probes */
	size_t offset;    /* in its struct */
	size_t size;      /* in bytes */
	enum field_kind kind;
	enum field_unit unit;
	bool is_address;	       /* text of an IPv4 or IPv6 address */
	bool is_hex;		       /* a number that is printed as text, 16 hex digits */
	const struct enum_info *words; /* numbers with a name; NULL if they have no names */
};

struct struct_info {
	const char *name; /* "tcpinfo": struct tcpinfo and tcpinfo_t */
	const char *doc;  /* one line, for --list-probes */
	size_t size;
	const struct field_info *fields; /* in order of offset, without padding */
	size_t field_count;
};

struct argument_info {
	const struct struct_info *type; /* NULL: a reserved position, always NULL */
	bool nullable;			/* may be NULL */
	const char *name;		/* of the parameter: "tcp" */
	const char *doc;		/* one line, for --list-probes */
};

struct probe_info {
	const char *name;   /* as D and --print write it: "tcp-receive" */
	const char *c_name; /* as the ELF note has it: "tcp__receive" */
	const char *doc;    /* a sentence or two, for --list-probes */
	unsigned arg_count; /* positions in use, 1 to 6 */
	struct argument_info args[6];
};

/* By id, in the order of netobs.d and of netobs.h. */
extern const struct probe_info manifest_probes[PROBE_COUNT];
extern const struct struct_info manifest_structs[STRUCT_COUNT];
extern const struct enum_info *const manifest_enums[];
extern const size_t manifest_enum_count;

/* The stabilities that netobs.d declares, in DTrace's words ("Evolving/Evolving/Common"): of the provider, and of the
 * names of modules, of functions, of probes and of arguments. */
#define MANIFEST_STABILITIES 5
extern const char *const manifest_stability[MANIFEST_STABILITIES];

/* Whether a probe fires for packets that only continue a known connection: for every packet of its kind, not for an
 * event.  tests/observe/test_one_probe.c finds one that netobs.d does not name. */
extern const bool manifest_per_packet[PROBE_COUNT];

/* The sites of a probe: 2 on x86-64 for one of packets, else 1. */
unsigned manifest_sites(enum probe_id probe);

/* The probe of exactly this name, in D's spelling or the note's; PROBE_COUNT if there is none. */
enum probe_id manifest_find_probe(const char *name);

/* The field of this name; NULL if the struct has no such field. */
const struct field_info *manifest_find_field(const struct struct_info *info, const char *name);

/*
 * Sets `selected` for the probes that a comma-separated list of names and wildcards (fnmatch: "tcp-*") selects; NULL or
 * "" selects all.  If a word matches no probe returns false with the word in `*unknown` (a pointer into `list`) and its
 * length.
 */
bool manifest_select_probes(const char *list, bool selected[PROBE_COUNT], const char **unknown, size_t *unknown_length);

#endif
