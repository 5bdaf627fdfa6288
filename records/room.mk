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
	%D%/record_sort.h
