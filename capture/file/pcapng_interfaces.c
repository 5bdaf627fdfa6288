/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file/pcapng_interfaces.h"

#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1000000000u

/* Largest time in whole seconds that 64 bits of nanoseconds hold with any fraction. */
#define SECONDS_MAX (UINT64_MAX / NANOSECONDS - 1)

/* Cells of the hash table, a power of two. */
#define NAME_CELLS (2u * PCAPNG_INTERFACES_MAX)

/* FNV-1a. */
static uint32_t
pcapng_interfaces_hash(const char *name)
{
	uint32_t hash = 0x811c9dc5;

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 0x01000193;
	return hash ^ hash >> 16;
}

/* The cell of a name, or the empty one where it belongs. */
static struct interface **
pcapng_interfaces_find(struct pcapng_interfaces *interfaces, const char *name)
{
	uint32_t cell = pcapng_interfaces_hash(name) % NAME_CELLS;

	while (interfaces->names[cell] != NULL && strcmp(interfaces->names[cell]->name, name) != 0)
		cell = (cell + 1) % NAME_CELLS;
	return &interfaces->names[cell];
}

const struct interface *
pcapng_interfaces_name(struct pcapng_interfaces *interfaces, const uint8_t *name, size_t length)
{
	struct interface wanted = {.name = ""}, **cell;

	for (size_t i = 0; i < length && i < sizeof wanted.name - 1 && name[i] != '\0'; i++)
		wanted.name[i] = name[i] >= ' ' && name[i] <= '~' ? (char)name[i] : '?';
	if (interfaces->names == NULL)
		interfaces->names = calloc(NAME_CELLS, sizeof interfaces->names[0]);
	if (interfaces->names == NULL)
		return NULL;
	cell = pcapng_interfaces_find(interfaces, wanted.name);
	if (*cell != NULL)
		return *cell;
	if (interfaces->name_count == PCAPNG_INTERFACES_MAX)
		return NULL;
	*cell = malloc(sizeof **cell);
	if (*cell == NULL)
		return NULL;
	**cell = wanted;
	interfaces->name_count++;
	return *cell;
}

bool
pcapng_interfaces_add(struct pcapng_interfaces *interfaces, const struct pcapng_interface *interface)
{
	if (interfaces->count == PCAPNG_INTERFACES_MAX)
		return false;
	if (interfaces->count == interfaces->allocated) {
		size_t size = interfaces->allocated > 0 ? 2 * interfaces->allocated : 16;
		struct pcapng_interface *list = realloc(interfaces->list, size * sizeof *list);

		if (list == NULL)
			return false;
		interfaces->list = list;
		interfaces->allocated = size;
	}
	interfaces->list[interfaces->count++] = *interface;
	return true;
}

void
pcapng_interfaces_free(struct pcapng_interfaces *interfaces)
{
	for (size_t i = 0; interfaces->names != NULL && i < NAME_CELLS; i++)
		free(interfaces->names[i]);
	free(interfaces->names);
	free(interfaces->list);
}

static uint64_t
pcapng_power_of_ten(unsigned exponent)
{
	uint64_t power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

void
pcapng_interface_set_clock(struct pcapng_interface *interface)
{
	interface->simple_limit = 0;
	if (interface->resolution > 9 || interface->offset < 0 || interface->offset > (int64_t)SECONDS_MAX)
		return;
	interface->multiplier = (uint32_t)pcapng_power_of_ten(9 - interface->resolution);
	interface->simple_offset = (uint64_t)interface->offset * NANOSECONDS;
	interface->simple_limit = (SECONDS_MAX * NANOSECONDS - interface->simple_offset) / interface->multiplier;
}

/* Nanoseconds of `fraction` / 2^`bits` seconds, rounded down. */
static uint64_t
pcapng_binary_fraction(uint64_t fraction, unsigned bits)
{
	uint64_t high = fraction >> 32, low = fraction & UINT32_MAX;

	if (bits <= 32)
		return fraction * NANOSECONDS >> bits;
	return (high * NANOSECONDS + (low * NANOSECONDS >> 32)) >> (bits - 32);
}

/* Adds the offset to seconds, within what can be represented. */
static uint64_t
pcapng_interface_add_offset(const struct pcapng_interface *interface, uint64_t seconds, uint64_t ns)
{
	uint64_t back = interface->offset < 0 ? -(uint64_t)interface->offset : 0;

	if (back > seconds)
		return 0;
	seconds -= back;
	if (interface->offset > 0)
		seconds = seconds < SECONDS_MAX && (uint64_t)interface->offset < SECONDS_MAX
			      ? seconds + (uint64_t)interface->offset
			      : SECONDS_MAX;
	return (seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * NANOSECONDS + ns;
}

uint64_t
pcapng_interface_convert_time(const struct pcapng_interface *interface, uint64_t stamp)
{
	unsigned exponent = interface->resolution & ~(unsigned)PCAPNG_BINARY;
	uint64_t seconds, ns, units;

	if ((interface->resolution & PCAPNG_BINARY) != 0) {
		seconds = stamp >> exponent;
		ns = pcapng_binary_fraction(stamp & ((UINT64_C(1) << exponent) - 1), exponent);
	} else {
		units = pcapng_power_of_ten(exponent);
		seconds = stamp / units;
		ns = exponent > 9 ? stamp % units / pcapng_power_of_ten(exponent - 9)
				  : stamp % units * pcapng_power_of_ten(9 - exponent);
	}
	return pcapng_interface_add_offset(interface, seconds, ns);
}
