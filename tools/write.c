/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "tools/control_client.h"
#include "tools/write_client.h"

/* ------------------------------------------------------------------------------------------------------ the options */

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

/* Parses the value of --max-size, such as 100M; false if it is wrong. */
static bool
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

/* -------------------------------------------------------------------------------------------------- netobsctl write */

struct write_arguments {
	size_t used;
	bool too_long;
	char text[CLIENT_REQUEST_MAX];
};

/* Appends a word, or an option with its value. */
static void
write_add_word(struct write_arguments *arguments, const char *option, const char *word)
{
	int length;

	if (word == NULL)
		return;
	length = snprintf(arguments->text + arguments->used, sizeof arguments->text - arguments->used, "%s%s%s",
			  arguments->used > 0 ? " " : "", option, word);
	if ((size_t)length >= sizeof arguments->text - arguments->used)
		arguments->too_long = true;
	else
		arguments->used += (size_t)length;
}

/* Compiles the filter, if there is one, into the request.  False with a message printed. */
static bool
write_set_filter(struct write_request *request, char **words, int count)
{
	struct write_arguments filter = {.used = 0};
	static char programs[WRITE_FILTER_MAX];
	char error[WRITE_FILTER_ERROR_MAX];

	for (int i = 0; i < count; i++)
		write_add_word(&filter, "", words[i]);
	if (filter.too_long) {
		client_log_error("the filter is too long", NULL);
		return false;
	}
	if (filter.used == 0)
		return true;
	request->programs = programs;
	if (write_filter_compile(request->socket, filter.text, programs, error))
		return true;
	client_log_error(error, NULL);
	return false;
}

int
write_run(const char *socket, char **words, int count, const struct write_options *options)
{
	struct write_arguments arguments = {.used = 0};
	struct write_request request = {.socket = socket, .arguments = arguments.text, .path = options->file};
	struct written_capture written;
	char error[4096 + 512];

	if (options->file == NULL || *options->file == '\0')
		return client_log_error("write: name the file with -w FILE; -w - is standard output", NULL);
	if (options->max_size != NULL && !write_on_settings_parse_size(options->max_size, &request.most_bytes))
		return EXIT_FAILURE;
	if (!client_is_word(options->format) || !client_is_word(options->cid) || !client_is_word(options->last))
		return client_log_error("write: a value of an option is empty or contains a blank", NULL);
	if (strcmp(options->file, "-") == 0 && isatty(STDOUT_FILENO))
		return client_log_error("a capture is not written to a terminal", NULL);
	write_add_word(&arguments, "--format=", options->format);
	write_add_word(&arguments, "--cid=", options->cid);
	write_add_word(&arguments, "--last=", options->last);
	if (arguments.too_long)
		return client_log_error("the command is too long", NULL);
	if (!write_set_filter(&request, words, count))
		return EXIT_FAILURE;
	if (!write_client_run(&request, &written, error, sizeof error))
		return client_log_error(error, request.most_bytes == 0 && written.bytes > WRITE_SIZE_MAX
						   ? "--max-size allows more"
						   : NULL);
	if (options->format != NULL && strcmp(options->format, "pcapng") != 0)
		client_log("netobsctl", "%s holds no comments; they are left out", options->format);
	client_log("netobsctl", "%llu frames, %llu bytes written; %llu frames lost%s",
		   (unsigned long long)written.frames, (unsigned long long)written.bytes,
		   (unsigned long long)written.lost,
		   written.cut ? "; earlier frames of the connection are not in the flight memory any more" : "");
	return EXIT_SUCCESS;
}
