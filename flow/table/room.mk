# SPDX-License-Identifier: BSD-2-Clause
# the flow table: keys, hash slots, timer wheel, eviction

libflow_a_SOURCES += \
	%D%/flow_table.c \
	%D%/slots.c \
	%D%/slots.h \
	%D%/table_access.c \
	%D%/table_internal.h \
	%D%/timer_wheel.c
