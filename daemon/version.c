/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/version.h"

#include <pcap/pcap.h>

#include "base/loop.h"
#include "confine/sandbox.h"

void
version_print(FILE *to)
{
	fprintf(to, "netobsd %s\n%s\n%s\n", PACKAGE_VERSION, pcap_lib_version(), loop_library_version());
	if (sandbox_instrumentation.count > 0)
		fputs("instrumented build: the system-call filter admits what sanitizers and gcov need\n", to);
}
