/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on_settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "tools/control_client.h"

/* Largest number in an option. */
#define NUMBER_MAX UINT64_C(1000000000)

static bool
settings_fail(const char *what, const char *reason)
{
	client_log_error(what, reason);
	return false;
}

/* Parses a number from 1 up to its end. */
static bool
settings_parse_number(const char *text, uint64_t *number, const char **end)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	*number = strtoull(text, &stop, 10);
	*end = stop;
	return *number > 0 && *number <= NUMBER_MAX;
}

static bool
settings_parse_files(const char *text, uint64_t *files)
{
	const char *end;

	return settings_parse_number(text, files, &end) && *end == '\0';
}

bool
write_on_settings_parse_size(const char *text, uint64_t *bytes)
{
	static const struct quantity size = {DIMENSION_SIZE, 0, 1, UINT64_C(1) << 60, false};
	char error[UNITS_ERROR_MAX];

	return units_parse(&size, text, bytes, error) || settings_fail("--max-size", error);
}

static bool
settings_parse_after(const char *text, uint64_t *ns)
{
	static const struct quantity after = {DIMENSION_TIME, 0, 0, UNITS_HOUR, false};
	char error[UNITS_ERROR_MAX];

	return units_parse(&after, text, ns, error) || settings_fail("--after", error);
}

/* "10/s": files in one unit of time, a second or more. */
static bool
settings_parse_rate(const char *text, struct write_on_settings *settings)
{
	const struct unit *unit;
	const char *end;

	if (!settings_parse_number(text, &settings->rate_count, &end) || *end++ != '/')
		return false;
	unit = unit_find(end, strlen(end));
	if (unit == NULL || unit->dimension != DIMENSION_TIME || unit->factor < UNITS_SECOND)
		return false;
	settings->rate_per_ns = unit->factor;
	return true;
}

/* Names and wildcards of probes and formulas: netobsd checks that they exist. */
static bool
settings_check_names(const char *names)
{
	return *names != '\0' &&
	       names[strspn(names, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_,*?[]")] == '\0';
}

bool
write_on_settings_parse(const struct write_on_options *options, struct write_on_settings *settings)
{
	static const char *const formats[] = {"pcapng", "pcap", "snoop"};
	const char *format = options->format != NULL ? options->format : formats[0];

	*settings = (struct write_on_settings){.after_ns = UNITS_SECOND,
					     .max_files = 100,
					     .max_bytes = 1073741824,
					     .rate_count = 10,
					     .rate_per_ns = UNITS_SECOND};
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strcmp(format, formats[i]) == 0)
			settings->format = formats[i];
	if (options->directory == NULL)
		return settings_fail("write --on needs --dir DIRECTORY", NULL);
	if (!settings_check_names(options->on))
		return settings_fail("--on", "expected names of probes and formulas, commas between them");
	if (settings->format == NULL)
		return settings_fail("--format", "expected pcapng, pcap or snoop");
	if (options->after != NULL && !settings_parse_after(options->after, &settings->after_ns))
		return false;
	if (options->max_files != NULL && !settings_parse_files(options->max_files, &settings->max_files))
		return settings_fail("--max-files", "expected a number from 1 to 1000000000");
	if (options->max_size != NULL && !write_on_settings_parse_size(options->max_size, &settings->max_bytes))
		return false;
	if (options->max_rate != NULL && !settings_parse_rate(options->max_rate, settings))
		return settings_fail("--max-rate", "expected files in a time, such as 10/s, 5/m or 100/h");
	return true;
}
