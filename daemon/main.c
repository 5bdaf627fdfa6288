/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsd(8). */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/config/options.h"
#include "daemon/run.h"
#include "daemon/version.h"

/* Opens standard streams that the caller has closed.  A capture must never get the descriptor of one: printed or logged
 * text would be sent through it. */
static void
occupy_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int
main(int argc, char **argv)
{
	struct config config;
	enum options_result result;
	int status = EXIT_STATUS_FAILED;

	occupy_standard_streams();
	result = options_parse(argc, argv, &config);
	if (result == OPTIONS_VERSION)
		version_print(stdout);
	if (result == OPTIONS_RUN) {
		status = (int)daemon_run(&config);
	} else if (result != OPTIONS_INVALID) {
		status = fflush(stdout) == 0 ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
		if (status != EXIT_STATUS_OK)
			log_error("cannot write to standard output");
	}
	config_free(&config);
	return status;
}
