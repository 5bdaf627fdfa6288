/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <stdlib.h>

#include "base/log.h"
#include "config/options.h"
#include "tools/split/split.h"
#include "tools/split/split_files.h"

/* The last ones are options of netobsd. */
static const struct option split_options[] = {
    {"number", required_argument, NULL, 'n'}, {"write", required_argument, NULL, 'w'},
    {"filter", required_argument, NULL, 'f'}, {"read", required_argument, NULL, 'r'},
    {"workers", required_argument, NULL, 0},  {"user", required_argument, NULL, 0},
    {"no-seccomp", no_argument, NULL, 0},     {"debug", required_argument, NULL, 0},
    {0}};

static bool
split_log_usage(void)
{
	log_error("usage: netobs-split -n NUMBER -w PREFIX [-f FILTER] [--workers=NUMBER] [--user=USER] "
		  "[--no-seccomp] [--debug=TOPIC,...] {FILE | -r FILE}...");
	return false;
}

static bool
split_set_count(struct split_request *request, const char *text)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	request->count = (uint32_t)count;
	if (*text >= '0' && *text <= '9' && *end == '\0' && count >= 1 && count <= SPLIT_FILES_MAX)
		return true;
	log_error("-n %s: expected a whole number from 1 to %u", text, SPLIT_FILES_MAX);
	return false;
}

/* The filter is compiled for the link types of the files. */
static bool
split_set_filter(struct config *config, const char *text)
{
	config->filter = options_strdup(config, text);
	if (config->filter == NULL)
		log_error("out of memory");
	return config->filter != NULL;
}

static bool
split_set(struct split_request *request, int option, const char *name)
{
	switch (option) {
	case 'n':
		return split_set_count(request, optarg);
	case 'w':
		request->prefix = optarg;
		return true;
	case 'f':
		return split_set_filter(&request->config, optarg);
	case 'r':
		return options_set(&request->config, "read", optarg);
	case 0:
		return options_set(&request->config, name, optarg);
	default:
		return split_log_usage();
	}
}

static bool
split_check(const struct split_request *request)
{
	if (request->count == 0)
		log_error("give the number of captures to write: -n NUMBER");
	else if (request->prefix == NULL)
		log_error("give the prefix of the names of the captures: -w PREFIX");
	else if (request->config.capture_paths[0] == NULL)
		log_error("give at least one capture: netobs split -n NUMBER -w PREFIX FILE...");
	else
		return options_check_standard_input(&request->config);
	return false;
}

bool
split_parse(int argc, char **argv, struct split_request *request)
{
	int option, index = 0;

	*request = (struct split_request){0};
	if (!config_set_defaults(&request->config)) {
		log_error("out of memory");
		return false;
	}
	opterr = 0;
	optind = 0; /* restart getopt, also for a second parse */
	while ((option = getopt_long(argc, argv, "n:w:f:r:", split_options, &index)) != -1)
		if (!split_set(request, option, split_options[index].name))
			return false;
	while (optind < argc)
		if (!options_set(&request->config, "read", argv[optind++]))
			return false;
	return split_check(request);
}
