/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of a definition, found at their places in each of its probes. */
#include <stdio.h>
#include <string.h>

#include "formulas/syntax.h"
#include "probes/nearest.h"

/* Probes that a message lists, at most. */
#define LISTED_MAX 4u

/* The name of a field without the prefix of its struct, if it may be written so: records are selected by their fields
 * alone.  Otherwise the whole name. */
static const char *
field_short_name(const struct field_info *field)
{
	return strncmp(field->name, "cr_", 3) == 0 ? field->name + 3 : field->name;
}

const struct struct_info *
field_struct(const struct compiler *c, enum probe_id probe, unsigned position)
{
	const struct struct_info *info = manifest_probes[probe].args[position].type;

	return info == &manifest_structs[STRUCT_CONNREC] ? c->row : info;
}

static const struct field_info *
field_find_in_struct(const struct struct_info *info, const char *name, size_t length)
{
	for (size_t i = 0; info != NULL && i < info->field_count; i++) {
		const char *brief = field_short_name(&info->fields[i]);

		if ((strlen(info->fields[i].name) == length && memcmp(info->fields[i].name, name, length) == 0) ||
		    (strlen(brief) == length && memcmp(brief, name, length) == 0))
			return &info->fields[i];
	}
	return NULL;
}

/* The field of a probe, in the first argument that has it or in args[position]; NULL if there is none. */
static const struct field_info *
field_find_in_probe(const struct compiler *c, enum probe_id probe, struct span name, int position,
		    struct field_place *place)
{
	for (unsigned i = 0; i < manifest_probes[probe].arg_count; i++) {
		const struct field_info *field = NULL;

		if (position < 0 || (unsigned)position == i)
			field = field_find_in_struct(field_struct(c, probe, i), c->source.text + name.at, name.length);
		if (field != NULL) {
			*place = (struct field_place){.position = (uint8_t)i,
						      .is_text = field->kind == FIELD_TEXT,
						      .offset = (uint16_t)field->offset,
						      .size = (uint16_t)field->size};
			return field;
		}
	}
	return NULL;
}

bool
field_is_known(const struct compiler *c, const char *name, size_t length)
{
	if (field_find_in_struct(c->row, name, length) != NULL)
		return true;
	for (size_t i = 0; i < STRUCT_COUNT; i++)
		if (field_find_in_struct(&manifest_structs[i], name, length) != NULL)
			return true;
	return false;
}

/* Writes "tcp-send, tcp-receive and 3 others", of the probes with the field; returns their number. */
static unsigned
field_list_probes(const struct compiler *c, struct span name, int position, char *list, size_t size)
{
	unsigned count = 0;
	size_t used = 0;

	list[0] = '\0';
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		struct field_place place;

		if (field_find_in_probe(c, (enum probe_id)i, name, position, &place) == NULL)
			continue;
		if (count++ < LISTED_MAX && used < size)
			used += (size_t)snprintf(list + used, size - used, "%s%s", count > 1 ? ", " : "",
						 manifest_probes[i].name);
	}
	if (count > LISTED_MAX && used < size)
		snprintf(list + used, size - used, " and %u others", count - LISTED_MAX);
	return count;
}

/* The field instead of a built-in variable of D or bpftrace, which would be that of netobsd; NULL if it is not such a
 * variable. */
static const char *
field_of_builtin(const char *name, size_t length)
{
	static const struct {
		const char *name, *field;
	} builtins[] = {{"execname", "cs_comm"}, {"comm", "cs_comm"},	       {"pid", "cs_pid"},
			{"timestamp", "pkt_ts"}, {"walltimestamp", "pkt_ts"}, {"nsecs", "pkt_ts"},
			{"arg0", "args[0]"},	 {"arg1", "args[1]"},	       {"arg2", "args[2]"},
			{"arg3", "args[3]"},	 {"arg4", "args[4]"},	       {"arg5", "args[5]"}};

	for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
		if (strlen(builtins[i].name) == length && memcmp(builtins[i].name, name, length) == 0)
			return builtins[i].field;
	return NULL;
}

/* A name that no struct has: the nearest one that the definition's probes have, or any struct. */
static bool
field_fail_unknown(struct compiler *c, struct span name)
{
	char excerpt[EXCERPT_MAX], hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	nearest_begin(&nearest, c->source.text + name.at, name.length);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		for (unsigned j = 0; c->formula->probes[i] && j < manifest_probes[i].arg_count; j++) {
			const struct struct_info *info = field_struct(c, (enum probe_id)i, j);

			for (size_t k = 0; info != NULL && k < info->field_count; k++) {
				nearest_consider(&nearest, field_short_name(&info->fields[k]));
				nearest_consider(&nearest, info->fields[k].name);
			}
		}
	if (nearest.found == NULL)
		nearest.found = field_of_builtin(c->source.text + name.at, name.length);
	for (size_t i = 0; nearest.found == NULL && i < STRUCT_COUNT; i++)
		for (size_t k = 0; k < manifest_structs[i].field_count; k++)
			nearest_consider(&nearest, manifest_structs[i].fields[k].name);
	return mistake_report(&c->source, name.at, "no field is called %s%s",
			      mistake_excerpt(&c->source, name, excerpt), nearest_hint(&nearest, "", hint));
}

static bool
field_fail_missing(struct compiler *c, struct span name, int position, enum probe_id id)
{
	const struct probe_info *probe = &manifest_probes[id];
	const char *text = c->source.text + name.at;
	struct field_place found;
	char list[200], place[24] = "";

	if (!field_is_known(c, text, name.length))
		return field_fail_unknown(c, name);
	if (position >= 0 && (unsigned)position < probe->arg_count && probe->args[position].type == NULL)
		return mistake_report(&c->source, name.at, "args[%d] of %s is reserved: it is always NULL", position,
				      probe->name);
	if (position >= 0)
		snprintf(place, sizeof place, "args[%d] of ", position);
	if (field_find_in_probe(c, id, name, -1, &found) != NULL)
		return mistake_report(&c->source, name.at, "%s%s has no %.*s: args[%u] has it", place, probe->name,
				      (int)name.length, text, found.position);
	if (field_list_probes(c, name, position, list, sizeof list) > 0)
		return mistake_report(&c->source, name.at, "%s%s has no %.*s, which these have: %s", place, probe->name,
				      (int)name.length, text, list);
	field_list_probes(c, name, -1, list, sizeof list);
	return mistake_report(&c->source, name.at, "%s has no %.*s, which these have: %s", probe->name,
			      (int)name.length, text, list);
}

/* Looks the field up in each probe. */
static bool
field_fill_use(struct compiler *c, struct span name, int position, struct use *use)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct field_info *field;

		if (!c->formula->probes[i])
			continue;
		field = field_find_in_probe(c, (enum probe_id)i, name, position, &use->places[i]);
		if (field == NULL)
			return field_fail_missing(c, name, position, (enum probe_id)i);
		if (use->field != NULL && (use->field->kind != field->kind || use->field->size != field->size))
			return mistake_report(&c->source, name.at, "the probes have %s with different types",
					      field->name);
		if (use->field == NULL)
			use->field = field;
	}
	return true;
}

/* Looks the argument up in each probe. */
static bool
field_fill_argument(struct compiler *c, struct span at, int position, struct use *use)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct probe_info *probe = &manifest_probes[i];

		if (!c->formula->probes[i])
			continue;
		if ((unsigned)position >= probe->arg_count)
			return mistake_report(&c->source, at.at, "%s has args[0] to args[%u]", probe->name,
					      probe->arg_count - 1);
		use->places[i] = (struct field_place){.position = (uint8_t)position};
	}
	return true;
}

/* The number of a use like this, made if there is none yet. */
static bool
field_keep_use(struct compiler *c, size_t at, unsigned *use)
{
	struct use *last = &c->uses[c->use_count];

	for (*use = 0; *use < c->use_count; ++*use)
		if (memcmp(&c->uses[*use], last, sizeof *last) == 0)
			return true;
	if (c->use_count == USES_MAX - 1)
		return mistake_report(&c->source, at, "more than %u fields", USES_MAX - 1);
	c->use_count++;
	return true;
}

/* The numbers of a firing, which a formula gives to its own firings. */
static bool
field_is_own_number(const char *name, size_t length)
{
	static const char *const own[] = {"pkt_seq", "cs_seq", "ci_seq", "cr_seq", "seq"};

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (strlen(own[i]) == length && memcmp(own[i], name, length) == 0)
			return true;
	return false;
}

bool
field_find_use(struct compiler *c, struct span name, int position, unsigned *use)
{
	struct use *last = &c->uses[c->use_count];

	if (field_is_own_number(c->source.text + name.at, name.length))
		return mistake_report(&c->source, name.at,
				      "%.*s numbers the firings of the formula itself and cannot select them; "
				      "a threshold counts, as 3 times in 1s",
				      (int)name.length, c->source.text + name.at);
	memset(last, 0, sizeof *last);
	return field_fill_use(c, name, position, last) && field_keep_use(c, name.at, use);
}

bool
field_find_argument(struct compiler *c, struct span at, int position, unsigned *use)
{
	struct use *last = &c->uses[c->use_count];

	memset(last, 0, sizeof *last);
	return field_fill_argument(c, at, position, last) && field_keep_use(c, at.at, use);
}

/* --- units --- */

enum dimension
field_dimension(enum field_unit unit)
{
	switch (unit) {
	case UNIT_NS:
	case UNIT_US:
	case UNIT_MS:
		return DIMENSION_TIME;
	case UNIT_BYTES:
		return DIMENSION_SIZE;
	case UNIT_NONE:
		break;
	}
	return DIMENSION_NONE;
}

uint64_t
field_unit_factor(enum field_unit unit)
{
	return unit == UNIT_US ? 1000 : unit == UNIT_MS ? 1000000 : 1;
}

const char *
field_unit_name(enum field_unit unit)
{
	static const char *const names[] = {
		[UNIT_NONE] = "", [UNIT_NS] = "ns", [UNIT_US] = "us", [UNIT_MS] = "ms", [UNIT_BYTES] = "bytes"};

	return names[unit];
}
