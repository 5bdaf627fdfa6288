/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of the options of netobsctl record. */
#ifndef NETOBS_TOOLS_RECORD_SETTINGS_H
#define NETOBS_TOOLS_RECORD_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/record.h"

struct record_settings {
	const char *format;   /* also the suffix of the files */
	uint64_t after_ns;    /* delay between a trigger and its file */
	uint64_t max_files;   /* in the directory */
	uint64_t max_bytes;   /* of all files in the directory */
	uint64_t rate_count;  /* at most so many files ... */
	uint64_t rate_per_ns; /* ... in this time */
};

/* False, with a message printed, if an option is wrong or missing. */
bool record_settings_parse(const struct record_options *options, struct record_settings *settings);

/* Parses the value of --max-size, such as 100M; false if it is wrong. */
bool record_settings_parse_size(const char *text, uint64_t *bytes);

#endif
