# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/connection.sh

# Interfaces at length: real traffic of many kinds, interfaces that come and go, frames that are lost.
all_tests += \
	%D%/copies.sh \
	%D%/in_place.sh \
	%D%/late_interface.sh \
	%D%/links.sh \
	%D%/live.sh \
	%D%/live_table.sh \
	%D%/on_demand.sh \
	%D%/overload.sh \
	%D%/owner.sh \
	%D%/pause.sh \
	%D%/records.sh \
	%D%/stacks.sh \
	%D%/workers.sh

# They measure speed.
speed_tests += \
	%D%/capture_speed.sh \
	%D%/on_demand_speed.sh \
	%D%/overload_speed.sh

EXTRA_PROGRAMS += %D%/overload_traffic
%D%/overload.log %D%/overload_speed.log: %D%/overload_traffic
%D%/owner.log: tests/owner/test_owner_lookup
