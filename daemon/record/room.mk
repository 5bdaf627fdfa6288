# SPDX-License-Identifier: BSD-2-Clause
# --records: the lines of a run and where they go

libdaemon_a_SOURCES += \
	%D%/record_output.c \
	%D%/record_output.h
