/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "probes/print/json_fields.h"

struct record_json {
	bool chosen;		 /* only these fields */
	struct text_clock clock; /* of the last line */
	unsigned count;
	struct json_field fields[RECORD_FIELDS_MAX];
};

static void
record_json_add(struct record_json *json, const struct field_info *field)
{
	json_field_prepare(&json->fields[json->count], field, json->chosen && json->count == 0);
	json->count++;
}

/* cr_uid is the first field, as every line of all fields begins with it. */
static void
record_json_add_all(struct record_json *json, bool open)
{
	const struct field_info *uid = manifest_find_field(record_row_struct(), "cr_uid");
	struct record_fields all;

	record_fields_set_all(&all, open);
	record_json_add(json, uid);
	for (unsigned i = 0; i < all.count; i++)
		if (all.fields[i] != uid)
			record_json_add(json, all.fields[i]);
}

struct record_json *
record_json_new(const struct record_fields *chosen, bool open)
{
	struct record_json *json = calloc(1, sizeof *json);
	size_t longest = TEXT_TIME_LENGTH + 16 + JSON_KEY_MAX;

	if (json == NULL)
		return NULL;
	json->chosen = chosen != NULL;
	if (chosen == NULL)
		record_json_add_all(json, open);
	for (unsigned i = 0; chosen != NULL && i < chosen->count; i++)
		record_json_add(json, chosen->fields[i]);
	for (unsigned i = 0; i < json->count; i++)
		longest += json_field_length_max(&json->fields[i]);
	assert(longest <= RECORD_LINE_MAX);
	return json;
}

void
record_json_free(struct record_json *json)
{
	free(json);
}

char *
record_json_put_line(struct record_json *json, const struct connrow *row, char *at)
{
	if (!json->chosen) {
		at = put_json_key(at, '{', "end");
		*at++ = '"';
		at = put_time(at, &json->clock, row->record.cr_end);
		*at++ = '"';
	}
	at = json_put_fields(at, json->fields, json->count, row);
	return PUT(at, "}\n");
}
