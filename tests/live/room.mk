# SPDX-License-Identifier: BSD-2-Clause

all_tests += \
	%D%/in_place.sh \
	%D%/late_interface.sh \
	%D%/links.sh \
	%D%/live.sh \
	%D%/live_table.sh \
	%D%/on_demand.sh \
	%D%/overload.sh \
	%D%/owner.sh \
	%D%/records.sh \
	%D%/stacks.sh \
	%D%/workers.sh

EXTRA_PROGRAMS += %D%/overload_traffic
%D%/overload.log: %D%/overload_traffic
%D%/owner.log: tests/daemon/owner/test_owner_lookup
