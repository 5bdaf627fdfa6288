/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/control_client.h"

json_t *
json_read_object(const char *line, size_t length)
{
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

/* Parses the lines of a text; NULL if one of them is not an object, or memory is short. */
static json_t *
json_read_lines(const char *text)
{
	json_t *lines = json_array();

	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		/* json_array_append_new() frees the object on failure, and fails without one. */
		if (json_array_append_new(lines, json_read_object(text, length)) != 0) {
			json_decref(lines);
			return NULL;
		}
		text += length + (text[length] == '\n');
	}
	return lines;
}

json_t *
json_read_reply(const char *socket, const char *request, size_t most, char *error, size_t error_size)
{
	char *text = malloc(most + 1);
	json_t *lines = NULL;

	if (text == NULL) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	if (client_read_json(socket, request, text, most + 1, error, error_size)) {
		lines = json_read_lines(text);
		if (lines == NULL)
			snprintf(error, error_size, "the reply is not JSON");
	}
	free(text);
	return lines;
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
