/* SPDX-License-Identifier: BSD-2-Clause */
/* Firings as JSON, driven by the manifest: a new field or probe needs no code here. */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "probes/print/format.h"
#include "probes/print/print_internal.h"

static enum json_operation
json_operation_for(const struct field_info *field)
{
	size_t n = field->size;

	switch (field->kind) {
	case FIELD_UNSIGNED:
		if (field->is_hex)
			return JSON_HEX;
		return n == 1 ? JSON_U8 : n == 2 ? JSON_U16 : n == 4 ? JSON_U32 : JSON_U64;
	case FIELD_SIGNED:
		return n == 1 ? JSON_I8 : n == 4 ? JSON_I32 : JSON_I64;
	case FIELD_NETWORK:
		return JSON_NETWORK;
	case FIELD_TEXT:
		return JSON_TEXT;
	case FIELD_BYTES:
	case FIELD_POINTER:
		break;
	}
	return JSON_BYTES;
}

static void
json_prepare_field(struct json_field *to, const struct field_info *field, bool first)
{
	char *at = to->key;

	assert(strlen(field->name) + 5 <= JSON_KEY_MAX);
	*at++ = first ? '{' : ',';
	*at++ = '"';
	at = put_string(at, field->name);
	at = PUT(at, "\":");
	if (field->kind == FIELD_TEXT || field->kind == FIELD_BYTES || field->is_hex)
		*at++ = '"';
	to->key_length = (uint8_t)(at - to->key);
	to->operation = (uint8_t)json_operation_for(field);
	to->offset = (uint16_t)field->offset;
	to->size = (uint16_t)field->size;
}

static bool
json_prepare_struct(struct json_struct *to, const struct struct_info *info)
{
	to->fields = calloc(info->field_count, sizeof to->fields[0]);
	if (to->fields == NULL)
		return false;
	for (size_t i = 0; i < info->field_count; i++)
		if (info->fields[i].kind != FIELD_POINTER) {
			json_prepare_field(&to->fields[to->count], &info->fields[i], to->count == 0);
			to->count++;
		}
	return true;
}

static size_t
json_max_struct_length(const struct json_struct *layout)
{
	size_t longest = 1;

	for (unsigned i = 0; i < layout->count; i++) {
		bool text = layout->fields[i].operation == JSON_TEXT || layout->fields[i].operation == JSON_BYTES;

		longest += JSON_KEY_MAX + FORMAT_NUMBER_MAX;
		if (text)
			longest += (size_t)layout->fields[i].size * FORMAT_JSON_BYTE_MAX;
	}
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

/* Reads a value of a struct at any type. */
#define READ_AS(type, from) (*(const type *)(const void *)(from))

static inline char *
json_put_field(char *at, const struct json_field *field, const char *from)
{
	memcpy(at, field->key, JSON_KEY_MAX);
	at += field->key_length;
	switch ((enum json_operation)field->operation) {
	case JSON_U8:
		return put_u32(at, READ_AS(uint8_t, from));
	case JSON_U16:
		return put_u32(at, READ_AS(uint16_t, from));
	case JSON_U32:
		return put_u32(at, READ_AS(uint32_t, from));
	case JSON_U64:
		return put_u64(at, READ_AS(uint64_t, from));
	case JSON_NETWORK:
		return put_u32(at, le32toh(READ_AS(uint32_t, from)));
	case JSON_I8:
		return put_i64(at, READ_AS(int8_t, from));
	case JSON_I32:
		return put_i64(at, READ_AS(int32_t, from));
	case JSON_I64:
		return put_i64(at, READ_AS(int64_t, from));
	case JSON_HEX:
		at = put_hex64(at, READ_AS(uint64_t, from));
		break;
	case JSON_TEXT:
		at = put_json_text(at, from, field->size);
		break;
	case JSON_BYTES:
		at = put_hex_bytes(at, (const uint8_t *)from, field->size);
		break;
	}
	*at++ = '"';
	return at;
}

static char *
json_put_struct(char *at, const struct json_struct *layout, const char *from)
{
	for (unsigned i = 0; i < layout->count; i++)
		at = json_put_field(at, &layout->fields[i], from + layout->fields[i].offset);
	*at++ = '}';
	return at;
}

char *
print_json_line(const struct printer *printer, const char *formula, enum probe_id id, const void *const args[6],
		char *at)
{
	const struct probe_info *probe = &manifest_probes[id];

	at = PUT(at, "{\"probe\":\"");
	if (formula != NULL) {
		at = put_string(at, formula);
		at = PUT(at, "\",\"of\":\"");
	}
	at = put_string(at, probe->name);
	at = PUT(at, "\",\"args\":[");
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
