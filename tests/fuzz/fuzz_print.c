/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the arguments of a probe.  Two bytes select the probe, one the arguments that are NULL; what follows are
 * the structs, padded with zeros.  A line of JSON is one JSON value in valid UTF-8 without hidden characters, and its
 * strings decode to the fields; a line of text is printable ASCII.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "apps/app.h"
#include "base/json.h"
#include "base/text.h"
#include "probes/print/print_internal.h"
#include "probes/probe_ids.h"
#include "tests/fuzz/fuzz_must.h"
#include "tests/lib/json_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct printer text_printer = {.format = PRINT_TEXT}, json_printer = {.format = PRINT_JSON};

static void
prepare(void)
{
	static bool prepared;

	if (prepared)
		return;
	app_register_text();
	print_text_prepare(&text_printer);
	must(print_json_prepare(&json_printer));
	prepared = true;
}

/* ----------------------------------------------------------------------------------------- what a string decodes to */

static unsigned
hex_value(const char *at, unsigned digits)
{
	unsigned value = 0;

	for (unsigned i = 0; i < digits; i++) {
		const char *digit = memchr("0123456789abcdef", at[i], 16);

		must(digit != NULL);
		value = value * 16 + (unsigned)(digit - "0123456789abcdef");
	}
	return value;
}

/* Decodes one character of a JSON string, and advances. */
static unsigned
decode_json(const char **at)
{
	static const char letters[] = "\"\"\\\\n\nt\tr\r";
	const char *letter;
	unsigned high;

	if (**at != '\\')
		return (uint8_t) * (*at)++;
	letter = strchr(letters, (*at)[1]);
	if ((*at)[1] != 'u') {
		must(letter != NULL);
		*at += 2;
		return (uint8_t)letter[1];
	}
	high = hex_value(*at + 2, 4);
	*at += 6;
	if (high >> 10 != 0xd800 >> 10)
		return high;
	must((*at)[0] == '\\' && (*at)[1] == 'u');
	*at += 6;
	return 0x10000 + ((high & 0x3ff) << 10) + (hex_value(*at - 4, 4) & 0x3ff);
}

/* Encodes a code point as UTF-8.  Gives the number of bytes. */
static unsigned
encode_utf8(unsigned code, uint8_t bytes[4])
{
	unsigned n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (unsigned i = n; i-- > 1; code >>= 6)
		bytes[i] = (uint8_t)(0x80 | (code & 0x3f));
	bytes[0] = (uint8_t)(n == 1 ? code : (0xf00u >> n & 0xf0) | code);
	return n;
}

/* Each escape stands for the bytes of its character, or for the byte of this value, which is not UTF-8. */
static void
check_json_text(const uint8_t *bytes, size_t size)
{
	char text[6 * 256 + 1];
	const char *at = text;
	size_t i = 0, length = strnlen((const char *)bytes, size);

	if (length > 256)
		return;
	*put_json_text(text, (const char *)bytes, size) = '\0';
	while (*at != '\0') {
		bool escaped = *at == '\\';
		unsigned code = decode_json(&at), n;
		uint8_t encoded[4];

		n = escaped && code >= 0x80 ? encode_utf8(code, encoded) : 1;
		if (n > 1 && length - i >= n && memcmp(bytes + i, encoded, n) == 0) {
			i += n;
			continue;
		}
		must(i < length && bytes[i] == code);
		i++;
	}
	must(i == length);
}

static void
check_plain_text(const uint8_t *bytes, size_t size)
{
	char text[4 * 256 + 1], *at = text;
	size_t i = 0, length = strnlen((const char *)bytes, size);

	if (length > 256)
		return;
	*put_plain_text(text, (const char *)bytes, size) = '\0';
	while (*at != '\0') {
		unsigned code = (uint8_t)*at++;

		must(code >= 0x20 && code < 0x7f);
		if (code == '\\' && *at == '\\') {
			at++;
		} else if (code == '\\') {
			must(*at == 'x');
			code = hex_value(at + 1, 2);
			at += 3;
		}
		must(i < length && bytes[i] == code);
		i++;
	}
	must(i == length);
	*put_plain_text(text, (const char *)bytes, length) = '\0';
	length = format_read_plain(text, text);
	must(length == strnlen((const char *)bytes, size) && memcmp(text, bytes, length) == 0);
}

/* Lines of another program: what is printed of them has no control characters, and is the same when it is cleaned
 * again. */
static void
check_foreign(const uint8_t *bytes, size_t size)
{
	char lines[6 * 256 + 8], again[6 * sizeof lines + 8];
	size_t length;

	if (size > 256)
		size = 256;
	length = (size_t)(put_foreign_lines(lines, (const char *)bytes, size) - lines);
	must(length <= 6 * size);
	for (size_t i = 0; i < length; i++)
		must(((uint8_t)lines[i] >= ' ' && lines[i] != 0x7f) || lines[i] == '\n' || lines[i] == '\t');
	must((size_t)(put_foreign_lines(again, lines, length) - again) == length);
	must(memcmp(again, lines, length) == 0);
}

/* The texts of the control socket. */
static void
check_buffers(const uint8_t *bytes, size_t size)
{
	char string[65], out[512];
	struct text_buffer text = {.bytes = out, .size = sizeof out};
	struct json json = text_json(&text);
	size_t where;

	if (size > 64)
		size = 64;
	memcpy(string, bytes, size);
	string[size] = '\0';
	json_add_string(&json, NULL, string);
	must(!text.truncated && json_check(out, text.used, &where));
	text.used = 0;
	text_add_escaped(&text, string);
	must(!text.truncated);
	for (size_t i = 0; i < text.used; i++)
		must(out[i] >= ' ' && out[i] <= '~');
}

/* --------------------------------------------------------------------------------------------------------- an input */

/* As long as the name of a formula can be. */
static const char longest_name[] = "a-name-of-sixty-four-characters-a-name-of-sixty-four-characters-";

_Static_assert(sizeof longest_name - 1 == PRINT_FORMULA_MAX, "the longest name");

static void
check_lines(const char *formula, enum probe_id id, const void *const args[6])
{
	static char line[PRINT_LINE_MAX];
	size_t length, where;

	length = (size_t)(print_json_line(&json_printer, formula, id, args, line) - line);
	must(length > 1 && length <= sizeof line && line[length - 1] == '\n');
	must(json_check(line, length - 1, &where));
	length = (size_t)(print_text_line(&text_printer, formula, id, args, line) - line);
	must(length > 1 && length <= sizeof line && line[length - 1] == '\n');
	for (size_t i = 0; i < length - 1; i++)
		must(line[i] >= ' ' && line[i] <= '~');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *args[6] = {NULL};
	const void *given[6];
	const struct probe_info *probe;
	enum probe_id id;

	prepare();
	if (size < 3)
		return 0;
	id = (enum probe_id)((data[0] | data[1] << 8) % PROBE_COUNT);
	probe = &manifest_probes[id];
	check_json_text(data + 3, size - 3);
	check_plain_text(data + 3, size - 3);
	check_foreign(data + 3, size - 3);
	check_buffers(data + 3, size - 3);
	for (unsigned i = 0, at = 3; i < probe->arg_count; i++) {
		size_t wanted = probe->args[i].type != NULL ? probe->args[i].type->size : 0;
		size_t given_bytes = size - at < wanted ? size - at : wanted;

		if (wanted == 0 || (probe->args[i].nullable && (data[2] >> i & 1) != 0))
			continue;
		args[i] = calloc(1, wanted); /* of the exact size */
		must(args[i] != NULL);
		memcpy(args[i], data + at, given_bytes);
		at += (unsigned)given_bytes;
	}
	for (unsigned i = 0; i < 6; i++)
		given[i] = args[i];
	check_lines(NULL, id, given);
	check_lines(longest_name, id, given);
	for (unsigned i = 0; i < 6; i++)
		free(args[i]);
	return 0;
}
