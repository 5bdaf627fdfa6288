# SPDX-License-Identifier: BSD-2-Clause
# connection records: the side array, its accounting, totals

libflow_a_SOURCES += \
	%D%/flow_record.h \
	%D%/record_begin.c \
	%D%/record_count.c \
	%D%/record_count.h \
	%D%/record_end.c \
	%D%/record_internal.h \
	%D%/record_time.c \
	%D%/record_time.h
