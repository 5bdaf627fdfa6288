# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/other_tracers.sh \
	%D%/packets.sh \
	%D%/site_live.sh \
	%D%/tracers.sh

%D%/site_live.log: bench/gentrace
