/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsd(8). */
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "config/options.h"
#include "confine/descriptors.h"
#include "daemon/run.h"
#include "daemon/version.h"

int
main(int argc, char **argv)
{
	static char name[] = "netobsd";
	struct config config;
	enum options_result result;
	int status = EXIT_STATUS_FAILED;

	descriptors_begin_program(name);
	result = options_parse(argc, argv, &config);
	if (result == OPTIONS_VERSION)
		version_print(stdout);
	if (result == OPTIONS_RUN) {
		status = (int)daemon_run(&config);
	} else if (result != OPTIONS_INVALID) {
		/* A reader that goes away needs no more. */
		status = fflush(stdout) == 0 || errno == EPIPE ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
		if (status != EXIT_STATUS_OK)
			log_error("cannot write to standard output");
	}
	config_free(&config);
	return status;
}
