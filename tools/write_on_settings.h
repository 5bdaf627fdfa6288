/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of the options of netobsctl write --on. */
#ifndef NETOBS_TOOLS_WRITE_ON_SETTINGS_H
#define NETOBS_TOOLS_WRITE_ON_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/write_on.h"

struct write_on_settings {
	const char *format;   /* also the suffix of the files */
	uint64_t after_ns;    /* delay between a trigger and its file */
	uint64_t max_files;   /* in the directory */
	uint64_t max_bytes;   /* of all files in the directory */
	uint64_t rate_count;  /* at most so many files ... */
	uint64_t rate_per_ns; /* ... in this time */
};

/* False, with a message printed, if an option is wrong or missing. */
bool write_on_settings_parse(const struct write_on_options *options, struct write_on_settings *settings);

/* Parses the value of --max-size, such as 100M; false if it is wrong. */
bool write_on_settings_parse_size(const char *text, uint64_t *bytes);

#endif
