# SPDX-License-Identifier: BSD-2-Clause
# records of connections: fields, order, JSON lines and table

librecords_a_SOURCES += \
	%D%/record_columns.c \
	%D%/record_columns.h \
	%D%/record_fields.c \
	%D%/record_fields.h \
	%D%/record_filter.c \
	%D%/record_filter.h \
	%D%/record_json.c \
	%D%/record_json.h \
	%D%/record_ring.c \
	%D%/record_ring.h \
	%D%/record_sort.c \
	%D%/record_sort.h \
	%D%/record_text.c \
	%D%/record_text.h \
	%D%/record_waits.c \
	%D%/record_waits.h \
	%D%/service_lines.c \
	%D%/service_lines.h \
	%D%/services.c \
	%D%/services.h
