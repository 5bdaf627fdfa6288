/* SPDX-License-Identifier: BSD-2-Clause */
/* Firings as JSON, driven by the manifest: a new field or probe needs no code here. */
#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "probes/print/print_internal.h"

static bool
json_prepare_struct(struct json_struct *to, const struct struct_info *info)
{
	to->fields = calloc(info->field_count, sizeof to->fields[0]);
	if (to->fields == NULL)
		return false;
	for (size_t i = 0; i < info->field_count; i++)
		if (info->fields[i].kind != FIELD_POINTER) {
			json_field_prepare(&to->fields[to->count], &info->fields[i], to->count == 0);
			to->count++;
		}
	return true;
}

static size_t
json_max_struct_length(const struct json_struct *layout)
{
	size_t longest = 1;

	for (unsigned i = 0; i < layout->count; i++)
		longest += json_field_length_max(&layout->fields[i]);
	return longest;
}

static size_t
json_max_line_length(const struct printer *printer, const struct probe_info *probe)
{
	size_t longest = 128; /* the probe's name and the brackets */

	for (unsigned i = 0; i < probe->arg_count; i++)
		if (probe->args[i].type != NULL)
			longest += json_max_struct_length(&printer->json[probe->args[i].type - manifest_structs]);
	return longest;
}

bool
print_json_prepare(struct printer *printer)
{
	for (unsigned i = 0; i < STRUCT_COUNT; i++)
		if (!json_prepare_struct(&printer->json[i], &manifest_structs[i]))
			return false;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		assert(json_max_line_length(printer, &manifest_probes[i]) + PRINT_FORMULA_MAX + 16 <= PRINT_LINE_MAX);
	return true;
}

void
print_json_free(struct printer *printer)
{
	for (unsigned i = 0; i < STRUCT_COUNT; i++)
		free(printer->json[i].fields);
}

static char *
json_put_struct(char *at, const struct json_struct *layout, const char *from)
{
	at = json_put_fields(at, layout->fields, layout->count, from);
	*at++ = '}';
	return at;
}

char *
print_json_line(const struct printer *printer, const char *formula, enum probe_id id, const void *const args[6],
		char *at)
{
	const struct probe_info *probe = &manifest_probes[id];

	at = put_json_key(at, '{', "probe");
	if (formula != NULL) {
		at = put_json_name(at, formula);
		at = put_json_key(at, ',', "of");
	}
	at = put_json_name(at, probe->name);
	at = put_json_key(at, ',', "args");
	*at++ = '[';
	for (unsigned i = 0; i < probe->arg_count; i++) {
		if (i > 0)
			*at++ = ',';
		if (args[i] == NULL || probe->args[i].type == NULL)
			at = PUT(at, "null");
		else
			at = json_put_struct(at, &printer->json[probe->args[i].type - manifest_structs], args[i]);
	}
	return PUT(at, "]}\n");
}
