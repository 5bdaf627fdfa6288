/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/saved_firing.h"

#include <string.h>

#include "probes/manifest.h"
#include "probes/netobs.h"

/* The arguments are structs of the contract, which need 8 bytes at most. */
static size_t
saved_argument_size(enum probe_id probe, unsigned position)
{
	const struct argument_info *argument = &manifest_probes[probe].args[position];

	return argument->type == NULL ? 0 : (argument->type->size + 7) / 8 * 8;
}

size_t
saved_firing_size(enum probe_id probe)
{
	size_t size = 0;

	for (unsigned i = 0; i < manifest_probes[probe].arg_count; i++)
		size += saved_argument_size(probe, i);
	return size;
}

/* Addresses of packets and connections are not valid later. */
static void
saved_clear_pointers(const struct struct_info *info, char *argument)
{
	for (size_t i = 0; i < info->field_count; i++)
		if (info->fields[i].kind == FIELD_POINTER)
			memset(argument + info->fields[i].offset, 0, info->fields[i].size);
}

void
saved_firing_set(struct saved_firing *saved, struct firing *firing, void *arguments)
{
	const struct probe_info *probe = &manifest_probes[firing->probe];
	char *to = arguments;

	*saved = (struct saved_firing){.probe = firing->probe,
				       .ts = firing->ts,
				       .cid = firing_cid(firing),
				       .emitter = firing->emitter,
				       .flow = firing->flow,
				       .endpoint = firing->endpoint};
	for (unsigned i = 0; i < probe->arg_count; i++) {
		const struct struct_info *info = probe->args[i].type;
		const void *argument = info != NULL ? firing_argument(firing, i) : NULL;

		if (argument != NULL) {
			saved->present |= (uint8_t)(1u << i);
			memcpy(to, argument, info->size);
			saved_clear_pointers(info, to);
		}
		to += saved_argument_size(firing->probe, i);
	}
}

/* Sets the fields of this name that an argument has. */
static void
saved_set_field(const struct struct_info *info, char *argument, const char *name, uint64_t number)
{
	const struct field_info *field = manifest_find_field(info, name);

	if (field != NULL && field->size == sizeof number)
		memcpy(argument + field->offset, &number, sizeof number);
}

/* The time stamp that the event has after `delay`: packet time differs from time stamps after a step of the clock. */
static void
saved_delay_field(const struct struct_info *info, char *argument, const char *name, uint64_t delay)
{
	const struct field_info *field = manifest_find_field(info, name);
	uint64_t number;

	if (field == NULL)
		return;
	memcpy(&number, argument + field->offset, sizeof number);
	number += delay;
	memcpy(argument + field->offset, &number, sizeof number);
}

void
saved_firing_get(const struct saved_firing *saved, void *arguments, uint64_t ts, struct firing *firing)
{
	const struct probe_info *probe = &manifest_probes[saved->probe];
	char *from = arguments;

	*firing = (struct firing){.probe = saved->probe,
				  .built = 0x3f,
				  .ts = ts,
				  .emitter = saved->emitter,
				  .flow = saved->flow,
				  .endpoint = saved->endpoint};
	if (saved->flow == NULL || firing_cid(firing) != saved->cid)
		firing->flow = NULL;
	firing->emitter = NULL;
	for (unsigned i = 0; i < probe->arg_count; i++) {
		if ((saved->present >> i & 1) != 0) {
			firing->args[i] = from;
			saved_delay_field(probe->args[i].type, from, "cs_ts", ts - saved->ts);
			saved_delay_field(probe->args[i].type, from, "ci_ts", ts - saved->ts);
		}
		from += saved_argument_size(saved->probe, i);
	}
}

void
saved_firing_set_sequence(const struct firing *firing, uint64_t sequence)
{
	static const char *const names[] = {"pkt_seq", "cs_seq", "ci_seq", "cr_seq"};
	const struct probe_info *probe = &manifest_probes[firing->probe];

	for (unsigned i = 0; i < probe->arg_count; i++)
		for (unsigned j = 0; firing->args[i] != NULL && probe->args[i].type != NULL && j < 4; j++)
			saved_set_field(probe->args[i].type, (char *)(uintptr_t)firing->args[i], names[j], sequence);
}
