/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the manifest as text and JSON.  Not performance critical: strings are written one at a time. */
#include "probes/print/probe_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "engine/engine.h"
#include "probes/manifest.h"
#include "probes/netobs.h"
#include "probes/print/writer.h"

static void
list_put_number(struct writer *out, size_t value)
{
	char *at = writer_reserve(out, FORMAT_NUMBER_MAX);

	writer_commit(out, put_u64(at, value));
}

static void
list_write_bytes(void *to, const char *bytes, size_t length)
{
	struct writer *out = to;
	char *at = writer_reserve(out, length); /* a part of a member */

	memcpy(at, bytes, length);
	writer_commit(out, at + length);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void
list_json_argument_type(struct json *json, const struct argument_info *argument)
{
	char type[64];

	if (argument->type == NULL) {
		json_add_null(json, NULL);
		return;
	}
	snprintf(type, sizeof type, "%s_t *", argument->type->name);
	json_add_string(json, NULL, type);
}

static void
list_json_probe(struct json *json, const struct probe_info *probe)
{
	json_begin_object(json, NULL);
	json_add_string(json, "name", probe->name);
	json_add_string(json, "c_name", probe->c_name);
	json_add_string(json, "doc", probe->doc);
	json_begin_array(json, "args");
	for (unsigned i = 0; i < probe->arg_count; i++)
		list_json_argument_type(json, &probe->args[i]);
	json_end_array(json);
	json_begin_array(json, "nullable");
	for (unsigned i = 0; i < probe->arg_count; i++)
		json_add_bool(json, NULL, probe->args[i].nullable);
	json_end_array(json);
	json_begin_array(json, "args_doc");
	for (unsigned i = 0; i < probe->arg_count; i++)
		json_add_string(json, NULL, probe->args[i].doc);
	json_end_array(json);
	json_end_object(json);
}

static void
list_json_field(struct json *json, const struct field_info *field)
{
	json_begin_object(json, NULL);
	json_add_string(json, "name", field->name);
	json_add_string(json, "type", field->type);
	json_add_unsigned(json, "offset", field->offset);
	json_add_unsigned(json, "size", field->size);
	json_add_string(json, "doc", field->doc);
	json_end_object(json);
}

static void
list_json_struct(struct json *json, const struct struct_info *info)
{
	json_begin_object(json, NULL);
	json_add_string(json, "name", info->name);
	json_add_unsigned(json, "size", info->size);
	json_add_string(json, "doc", info->doc);
	json_begin_array(json, "fields");
	for (size_t i = 0; i < info->field_count; i++)
		list_json_field(json, &info->fields[i]);
	json_end_array(json);
	json_end_object(json);
}

static void
list_json(struct writer *out)
{
	struct json json = {.write = list_write_bytes, .to = out};

	json_begin_object(&json, NULL);
	json_add_string(&json, "provider", "netobs");
	json_add_unsigned(&json, "abi", NETOBS_ABI_VERSION);
	json_begin_array(&json, "probes");
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		list_json_probe(&json, &manifest_probes[i]);
	json_end_array(&json);
	json_begin_array(&json, "structs");
	for (unsigned i = 0; i < STRUCT_COUNT; i++)
		list_json_struct(&json, &manifest_structs[i]);
	json_end_array(&json);
	json_end_line(&json);
}

/* ------------------------------------------------------------------------------------------------------------- text */

static void
list_text_probe(struct writer *out, const struct probe_info *probe)
{
	writer_put_string(out, probe->name);
	writer_put_string(out, "\n    ");
	writer_put_string(out, probe->doc);
	writer_put_string(out, "\n");
	for (unsigned i = 0; i < probe->arg_count; i++) {
		const struct argument_info *argument = &probe->args[i];

		writer_put_string(out, "    args[");
		list_put_number(out, i);
		writer_put_string(out, "] ");
		if (argument->type == NULL) {
			writer_put_string(out, "NULL\n");
			continue;
		}
		writer_put_string(out, argument->type->name);
		writer_put_string(out, argument->nullable ? "_t * or NULL: " : "_t *: ");
		writer_put_string(out, argument->doc);
		writer_put_string(out, "\n");
	}
}

static void
list_text_struct(struct writer *out, const struct struct_info *info)
{
	writer_put_string(out, "\n");
	writer_put_string(out, info->name);
	writer_put_string(out, "_t: ");
	writer_put_string(out, info->doc);
	writer_put_string(out, "\n");
	for (size_t i = 0; i < info->field_count; i++) {
		writer_put_string(out, "    ");
		writer_put_string(out, info->fields[i].type);
		writer_put_string(out, " ");
		writer_put_string(out, info->fields[i].name);
		writer_put_string(out, ": ");
		writer_put_string(out, info->fields[i].doc);
		writer_put_string(out, "\n");
	}
}

static void
list_text(struct writer *out)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		list_text_probe(out, &manifest_probes[i]);
	for (unsigned i = 0; i < STRUCT_COUNT; i++)
		list_text_struct(out, &manifest_structs[i]);
}

int
probe_list_write(int fd, enum print_format format)
{
	struct writer out;

	if (!writer_open(&out, fd))
		return errno;
	if (format == PRINT_JSON)
		list_json(&out);
	else
		list_text(&out);
	return writer_close(&out);
}

/* -------------------------------------------------------------------------------------------------- netobs_engine */

/* Longest name of a probe of netobs_engine, with its NUL. */
#define ENGINE_NAME_MAX 64

/* batch__start is batch-start in D. */
static const char *
list_engine_name(const struct engine_probe *probe, char name[ENGINE_NAME_MAX])
{
	const char *from = probe->c_name;
	size_t length = 0;

	for (; *from != '\0' && length + 1 < ENGINE_NAME_MAX; length++) {
		bool hyphen = from[0] == '_' && from[1] == '_';

		name[length] = hyphen ? '-' : *from;
		from += hyphen ? 2 : 1;
	}
	name[length] = '\0';
	return name;
}

static void
list_json_engine_probe(struct json *json, const struct engine_probe *probe)
{
	char name[ENGINE_NAME_MAX];

	json_begin_object(json, NULL);
	json_add_string(json, "name", list_engine_name(probe, name));
	json_add_string(json, "c_name", probe->c_name);
	json_add_string(json, "doc", probe->text);
	json_begin_array(json, "args");
	for (unsigned i = 0; i < probe->arg_count; i++)
		json_add_string(json, NULL, probe->args[i].name);
	json_end_array(json);
	json_begin_array(json, "args_doc");
	for (unsigned i = 0; i < probe->arg_count; i++)
		json_add_string(json, NULL, probe->args[i].text);
	json_end_array(json);
	json_end_object(json);
}

static void
list_json_engine(struct writer *out)
{
	struct json json = {.write = list_write_bytes, .to = out};

	json_begin_object(&json, NULL);
	json_add_string(&json, "provider", "netobs_engine");
	json_begin_array(&json, "probes");
	for (size_t i = 0; i < engine_probe_count; i++)
		list_json_engine_probe(&json, &engine_probes[i]);
	json_end_array(&json);
	json_end_line(&json);
}

static void
list_text_engine_probe(struct writer *out, const struct engine_probe *probe)
{
	char name[ENGINE_NAME_MAX];

	writer_put_string(out, list_engine_name(probe, name));
	writer_put_string(out, "\n    ");
	writer_put_string(out, probe->text);
	writer_put_string(out, "\n");
	for (unsigned i = 0; i < probe->arg_count; i++) {
		writer_put_string(out, "    arg");
		list_put_number(out, i);
		writer_put_string(out, " ");
		writer_put_string(out, probe->args[i].name);
		writer_put_string(out, ": ");
		writer_put_string(out, probe->args[i].text);
		writer_put_string(out, "\n");
	}
}

int
probe_list_write_engine(int fd, enum print_format format)
{
	struct writer out;

	if (!writer_open(&out, fd))
		return errno;
	if (format == PRINT_JSON)
		list_json_engine(&out);
	for (size_t i = 0; format != PRINT_JSON && i < engine_probe_count; i++)
		list_text_engine_probe(&out, &engine_probes[i]);
	return writer_close(&out);
}
