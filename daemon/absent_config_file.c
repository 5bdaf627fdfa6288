/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds without libconfuse read no configuration file. */
#include "daemon/config_file.h"
#include "daemon/log.h"

const bool config_file_readable = false;

bool
config_file_read(const char *path, struct config *config, const bool *overridden)
{
	(void)config;
	(void)overridden;
	log_error("cannot read %s: this netobsd was built without libconfuse; the command line takes the same settings",
		  path);
	return false;
}

bool
config_file_parse(FILE *stream, const char *name, struct config *config, const bool *overridden)
{
	(void)stream;
	return config_file_read(name, config, overridden);
}
