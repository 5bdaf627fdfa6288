/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the manifest as text and JSON.  Not performance critical: strings are written one at a time. */
#include "probes/print/probe_list.h"

#include <errno.h>
#include <string.h>

#include "engine/engine.h"
#include "probes/manifest.h"
#include "probes/netobs.h"
#include "base/format.h"
#include "base/json.h"
#include "probes/print/writer.h"

static void
list_put_number(struct writer *out, size_t value)
{
	char *at = writer_reserve(out, FORMAT_NUMBER_MAX);

	writer_commit(out, put_u64(at, value));
}

/* A string of the manifest, in quotes and escaped. */
static void
list_put_quoted(struct writer *out, const char *text)
{
	size_t size = strlen(text);
	char *at = writer_reserve(out, size * JSON_BYTE_MAX + 2);

	*at++ = '"';
	at = put_json_text(at, text, size);
	*at++ = '"';
	writer_commit(out, at);
}

/* ,"key": with the text as its value. */
static void
list_put_member(struct writer *out, const char *key, const char *text)
{
	writer_put_string(out, key);
	list_put_quoted(out, text);
}

static void
list_put_separator(struct writer *out, size_t index)
{
	if (index > 0)
		writer_put_string(out, ",");
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void
list_json_argument_types(struct writer *out, const struct probe_info *probe)
{
	for (unsigned i = 0; i < probe->arg_count; i++) {
		list_put_separator(out, i);
		if (probe->args[i].type == NULL) {
			writer_put_string(out, "null");
		} else {
			writer_put_string(out, "\"");
			writer_put_string(out, probe->args[i].type->name);
			writer_put_string(out, "_t *\"");
		}
	}
}

static void
list_json_probe(struct writer *out, const struct probe_info *probe)
{
	list_put_member(out, "{\"name\":", probe->name);
	list_put_member(out, ",\"c_name\":", probe->c_name);
	list_put_member(out, ",\"doc\":", probe->doc);
	writer_put_string(out, ",\"args\":[");
	list_json_argument_types(out, probe);
	writer_put_string(out, "],\"nullable\":[");
	for (unsigned i = 0; i < probe->arg_count; i++) {
		list_put_separator(out, i);
		writer_put_string(out, probe->args[i].nullable ? "true" : "false");
	}
	writer_put_string(out, "],\"args_doc\":[");
	for (unsigned i = 0; i < probe->arg_count; i++) {
		list_put_separator(out, i);
		list_put_quoted(out, probe->args[i].doc);
	}
	writer_put_string(out, "]}");
}

static void
list_json_field(struct writer *out, const struct field_info *field)
{
	list_put_member(out, "{\"name\":", field->name);
	list_put_member(out, ",\"type\":", field->type);
	writer_put_string(out, ",\"offset\":");
	list_put_number(out, field->offset);
	writer_put_string(out, ",\"size\":");
	list_put_number(out, field->size);
	list_put_member(out, ",\"doc\":", field->doc);
	writer_put_string(out, "}");
}

static void
list_json_struct(struct writer *out, const struct struct_info *info)
{
	list_put_member(out, "{\"name\":", info->name);
	writer_put_string(out, ",\"size\":");
	list_put_number(out, info->size);
	list_put_member(out, ",\"doc\":", info->doc);
	writer_put_string(out, ",\"fields\":[");
	for (size_t i = 0; i < info->field_count; i++) {
		list_put_separator(out, i);
		list_json_field(out, &info->fields[i]);
	}
	writer_put_string(out, "]}");
}

static void
list_json(struct writer *out)
{
	writer_put_string(out, "{\"provider\":\"netobs\",\"abi\":");
	list_put_number(out, NETOBS_ABI_VERSION);
	writer_put_string(out, ",\"probes\":[");
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		list_put_separator(out, i);
		list_json_probe(out, &manifest_probes[i]);
	}
	writer_put_string(out, "],\"structs\":[");
	for (unsigned i = 0; i < STRUCT_COUNT; i++) {
		list_put_separator(out, i);
		list_json_struct(out, &manifest_structs[i]);
	}
	writer_put_string(out, "]}\n");
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

/* batch__start is batch-start in D. */
static void
list_put_engine_name(struct writer *out, const char *c_name)
{
	const char *at;

	while ((at = strstr(c_name, "__")) != NULL) {
		char *to = writer_reserve(out, (size_t)(at - c_name) + 1);

		memcpy(to, c_name, (size_t)(at - c_name));
		to[at - c_name] = '-';
		writer_commit(out, to + (at - c_name) + 1);
		c_name = at + 2;
	}
	writer_put_string(out, c_name);
}

static void
list_json_engine_probe(struct writer *out, const struct engine_probe *probe)
{
	writer_put_string(out, "{\"name\":\"");
	list_put_engine_name(out, probe->c_name);
	list_put_member(out, "\",\"c_name\":", probe->c_name);
	list_put_member(out, ",\"doc\":", probe->text);
	writer_put_string(out, ",\"args\":[");
	for (unsigned i = 0; i < probe->arg_count; i++) {
		list_put_separator(out, i);
		list_put_quoted(out, probe->args[i].name);
	}
	writer_put_string(out, "],\"args_doc\":[");
	for (unsigned i = 0; i < probe->arg_count; i++) {
		list_put_separator(out, i);
		list_put_quoted(out, probe->args[i].text);
	}
	writer_put_string(out, "]}");
}

static void
list_text_engine_probe(struct writer *out, const struct engine_probe *probe)
{
	list_put_engine_name(out, probe->c_name);
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
		writer_put_string(&out, "{\"provider\":\"netobs_engine\",\"probes\":[");
	for (size_t i = 0; i < engine_probe_count; i++) {
		if (format == PRINT_JSON) {
			list_put_separator(&out, i);
			list_json_engine_probe(&out, &engine_probes[i]);
		} else {
			list_text_engine_probe(&out, &engine_probes[i]);
		}
	}
	if (format == PRINT_JSON)
		writer_put_string(&out, "]}\n");
	return writer_close(&out);
}
