/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a configuration file: rejected with one message, or accepted, and accepted settings can be printed
 * and read again to the same effect. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "config/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned messages;
static const bool overridden[256];

/* Replaces base/log.c. */
void
log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
	messages++;
}

static void
must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static bool
parse(const void *data, size_t size, struct config *config)
{
	FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
	bool good;

	messages = 0;
	must(stream != NULL && config_set_defaults(config), "there is memory");
	good = config_file_parse(stream, "fuzz", config, overridden);
	fclose(stream);
	must(messages == !good, "a bad file is one message");
	if (config->print != PRINT_OFF && config->list_format != PRINT_OFF)
		config->print = config->list_format; /* as options.c does */
	return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config, again;
	char *text = NULL;
	size_t length;
	FILE *stream;

	if (size == 0)
		return 0;
	if (parse(data, size, &config)) {
		stream = open_memstream(&text, &length);
		must(stream != NULL, "there is memory");
		config_print(stream, &config);
		fclose(stream);
		must(parse(text, length, &again), "what is printed can be read");
		for (size_t i = 0; i < options_table_rows; i++)
			must(options_table[i].source == OPTION_COMMAND_LINE ||
				 options_values_equal(&options_table[i], &config, &again),
			     "what is printed is what was read");
		config_free(&again);
		free(text);
	}
	config_free(&config);
	return 0;
}
