/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/json_reader.h"

json_t *
json_read_object(const char *line, size_t length)
{
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

bool
json_read_unsigned(const json_t *object, const char *name, uint64_t *number)
{
	const json_t *member = json_object_get(object, name);

	if (!json_is_integer(member) || json_integer_value(member) < 0)
		return false;
	*number = (uint64_t)json_integer_value(member);
	return true;
}

bool
json_read_bool(const json_t *object, const char *name, bool *value)
{
	const json_t *member = json_object_get(object, name);

	*value = json_is_true(member);
	return json_is_boolean(member);
}

const char *
json_read_string(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}
