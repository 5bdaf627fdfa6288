/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/print/json_fields.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

enum json_operation
json_field_operation(const struct field_info *field)
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

void
json_field_prepare(struct json_field *to, const struct field_info *field, bool first)
{
	char *at;

	assert(strlen(field->name) + 5 <= JSON_KEY_MAX);
	at = put_json_key(to->key, first ? '{' : ',', field->name);
	if (field->kind == FIELD_TEXT || field->kind == FIELD_BYTES || field->is_hex)
		*at++ = '"';
	to->key_length = (uint8_t)(at - to->key);
	to->operation = (uint8_t)json_field_operation(field);
	to->offset = (uint16_t)field->offset;
	to->size = (uint16_t)field->size;
}

size_t
json_field_length_max(const struct json_field *field)
{
	size_t longest = JSON_KEY_MAX + FORMAT_NUMBER_MAX;

	if (field->operation == JSON_TEXT || field->operation == JSON_BYTES)
		longest += (size_t)field->size * JSON_BYTE_MAX;
	return longest;
}

/* Reads a value of a struct at any type. */
#define READ_AS(type, from) (*(const type *)(const void *)(from))

/* Writes a value.  The quote in front of a string belongs to its key. */
static inline char *
json_put_after_quote(char *at, enum json_operation operation, size_t size, const char *from)
{
	switch (operation) {
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
		at = put_json_text(at, from, size);
		break;
	case JSON_BYTES:
		at = put_hex_bytes(at, (const uint8_t *)from, size);
		break;
	}
	*at++ = '"';
	return at;
}

static inline char *
json_put_field(char *at, const struct json_field *field, const char *from)
{
	memcpy(at, field->key, JSON_KEY_MAX);
	at += field->key_length;
	return json_put_after_quote(at, (enum json_operation)field->operation, field->size, from);
}

char *
json_put_value(char *at, enum json_operation operation, size_t size, const char *from)
{
	if (operation == JSON_HEX || operation == JSON_TEXT || operation == JSON_BYTES)
		*at++ = '"';
	return json_put_after_quote(at, operation, size, from);
}

char *
json_put_fields(char *at, const struct json_field *fields, unsigned count, const void *from)
{
	for (unsigned i = 0; i < count; i++)
		at = json_put_field(at, &fields[i], (const char *)from + fields[i].offset);
	return at;
}
