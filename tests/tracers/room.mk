# SPDX-License-Identifier: BSD-2-Clause

all_tests += \
	%D%/engine.sh \
	%D%/other_tracers.sh \
	%D%/packets.sh \
	%D%/site_live.sh \
	%D%/tracers.sh

%D%/engine.log %D%/site_live.log: bench/gentrace
