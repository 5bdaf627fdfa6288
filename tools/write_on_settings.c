/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write_on_settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tools/control_client.h"

#define NS_PER_S UINT64_C(1000000000)

/* Largest number in an option, and longest delay. */
#define NUMBER_MAX UINT64_C(1000000000)
#define AFTER_MAX  (3600 * NS_PER_S)

struct write_on_unit {
	const char *word;
	uint64_t factor;
};

/* Parses a number and one of the units; the last unit has the word NULL. */
static bool
settings_parse_number(const char *text, const struct write_on_unit *units, uint64_t *number, uint64_t *factor)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*number = strtoull(text, &end, 10);
	if (*number > NUMBER_MAX)
		return false;
	for (; units->word != NULL; units++)
		if (strcmp(end, units->word) == 0) {
			*factor = units->factor;
			return true;
		}
	return false;
}

static bool
settings_parse_after(const char *text, uint64_t *ns)
{
	static const struct write_on_unit units[] = {
	    {"ms", 1000000}, {"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {NULL, 0}};
	uint64_t number, factor;

	if (!settings_parse_number(text, units, &number, &factor) || number > AFTER_MAX / factor)
		return false;
	*ns = number * factor;
	return true;
}

static bool
settings_parse_files(const char *text, uint64_t *files)
{
	static const struct write_on_unit units[] = {{"", 1}, {NULL, 0}};
	uint64_t factor;

	return settings_parse_number(text, units, files, &factor) && *files > 0;
}

bool
write_on_settings_parse_size(const char *text, uint64_t *bytes)
{
	static const struct write_on_unit units[] = {{"K", 1024}, {"M", 1048576}, {"G", 1073741824}, {NULL, 0}};
	uint64_t number, factor;

	if (!settings_parse_number(text, units, &number, &factor) || number == 0)
		return false;
	*bytes = number * factor;
	return true;
}

static bool
settings_parse_rate(const char *text, struct write_on_settings *settings)
{
	static const struct write_on_unit units[] = {
	    {"/s", NS_PER_S}, {"/m", 60 * NS_PER_S}, {"/h", 3600 * NS_PER_S}, {NULL, 0}};

	return settings_parse_number(text, units, &settings->rate_count, &settings->rate_per_ns) &&
	       settings->rate_count > 0;
}

/* Names and wildcards of probes and formulas: netobsd checks that they exist. */
static bool
settings_check_names(const char *names)
{
	return *names != '\0' &&
	       names[strspn(names, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_,*?[]")] == '\0';
}

static bool
settings_fail(const char *what, const char *reason)
{
	client_log_error(what, reason);
	return false;
}

bool
write_on_settings_parse(const struct write_on_options *options, struct write_on_settings *settings)
{
	static const char *const formats[] = {"pcapng", "pcap", "snoop"};
	const char *format = options->format != NULL ? options->format : formats[0];

	*settings = (struct write_on_settings){
	    .after_ns = NS_PER_S, .max_files = 100, .max_bytes = 1073741824, .rate_count = 10, .rate_per_ns = NS_PER_S};
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
		return settings_fail("--after", "expected a time such as 500ms, 2s or 1m, up to 1h");
	if (options->max_files != NULL && !settings_parse_files(options->max_files, &settings->max_files))
		return settings_fail("--max-files", "expected a number from 1 to 1000000000");
	if (options->max_size != NULL && !write_on_settings_parse_size(options->max_size, &settings->max_bytes))
		return settings_fail("--max-size", "expected a size such as 100M (K, M, G)");
	if (options->max_rate != NULL && !settings_parse_rate(options->max_rate, settings))
		return settings_fail("--max-rate", "expected files in a time, such as 10/s, 5/m or 100/h");
	return true;
}
