/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/write.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/control_client.h"
#include "tools/write_client.h"
#include "tools/write_filter.h"
#include "tools/write_on_settings.h"

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

static bool
write_has_blank(const char *value)
{
	return value != NULL && (*value == '\0' || strpbrk(value, " \t") != NULL);
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
	if (write_has_blank(options->format) || write_has_blank(options->cid) || write_has_blank(options->last))
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
