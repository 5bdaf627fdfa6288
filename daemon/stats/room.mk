# SPDX-License-Identifier: BSD-2-Clause
# counters of a run, summed over workers

libdaemon_a_SOURCES += \
	%D%/build_id.c \
	%D%/build_id.h \
	%D%/counters.c \
	%D%/counters.h \
	%D%/stats.c \
	%D%/stats.h
