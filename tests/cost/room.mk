# SPDX-License-Identifier: BSD-2-Clause

# It measures the time of a frame.
speed_tests += \
	%D%/cost.sh

cost_programs = \
	%D%/cost_known \
	%D%/cost_search \
	%D%/cost_search_walk
EXTRA_PROGRAMS += $(cost_programs)
cost_sources = %D%/cost_frames.c %D%/cost_frames.h %D%/cost_meter.c %D%/cost_meter.h
tests_cost_cost_known_SOURCES = %D%/cost_known.c $(cost_sources)
tests_cost_cost_search_SOURCES = %D%/cost_search.c $(cost_sources)
tests_cost_cost_search_walk_SOURCES = %D%/cost_search.c %D%/index_walk_stub.c $(cost_sources)
%D%/cost.log: $(cost_programs)
