/* SPDX-License-Identifier: BSD-2-Clause */
/* netobsd(8). */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>

#include "base/log.h"
#include "base/loop.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "confine/sandbox.h"
#include "daemon/run.h"

/* Prints the versions of netobsd and of the libraries it runs with. */
static void
main_print_version(void)
{
	printf("netobsd %s\n%s\n%s\n", PACKAGE_VERSION, pcap_lib_version(), loop_library_version());
	if (sandbox_instrumentation.count > 0)
		puts("instrumented build: the system-call filter admits what sanitizers and gcov need");
}

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
		main_print_version();
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
