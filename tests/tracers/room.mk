# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/first_proof.sh \
	%D%/site_watch.sh

# All probes, tracers that come and go, live interfaces, and tracers that need headers of a kernel.
all_tests += \
	%D%/engine.sh \
	%D%/other_tracers.sh \
	%D%/packets.sh \
	%D%/site_live.sh \
	%D%/tracers.sh

%D%/engine.log %D%/site_live.log: bench/gentrace
