/* SPDX-License-Identifier: BSD-2-Clause */
/* Lookups in the manifest. */
#include "probes/manifest.h"

#include <fnmatch.h>
#include <string.h>

#include "usdt/site.h"

/* Longer than every probe name and useful wildcard. */
#define WORD_MAX 64

unsigned
manifest_sites(enum probe_id probe)
{
	return manifest_per_packet[probe] ? PROBE_SITES : 1;
}

enum probe_id
manifest_find_probe(const char *name)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (strcmp(manifest_probes[i].name, name) == 0 || strcmp(manifest_probes[i].c_name, name) == 0)
			return (enum probe_id)i;
	return PROBE_COUNT;
}

const struct field_info *
manifest_find_field(const struct struct_info *info, const char *name)
{
	for (size_t i = 0; i < info->field_count; i++)
		if (strcmp(info->fields[i].name, name) == 0)
			return &info->fields[i];
	return NULL;
}

static bool
manifest_select_matching(const char *word, size_t length, bool selected[PROBE_COUNT])
{
	char pattern[WORD_MAX];
	bool any = false;

	if (length >= sizeof pattern)
		return false;
	memcpy(pattern, word, length);
	pattern[length] = '\0';
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (fnmatch(pattern, manifest_probes[i].name, 0) == 0 ||
		    fnmatch(pattern, manifest_probes[i].c_name, 0) == 0)
			any = selected[i] = true;
	return any;
}

bool
manifest_select_probes(const char *list, bool selected[PROBE_COUNT], const char **unknown, size_t *unknown_length)
{
	memset(selected, 0, PROBE_COUNT * sizeof selected[0]);
	if (list == NULL || *list == '\0')
		list = "*";
	for (;;) {
		size_t length = strcspn(list, ",");

		if (!manifest_select_matching(list, length, selected)) {
			*unknown = list;
			*unknown_length = length;
			return false;
		}
		if (list[length] == '\0')
			return true;
		list += length + 1;
	}
}
