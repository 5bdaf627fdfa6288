# SPDX-License-Identifier: BSD-2-Clause
# the built-in printer and --list-probes

libprobes_a_SOURCES += \
	%D%/json_fields.c \
	%D%/json_fields.h \
	%D%/print.c \
	%D%/print.h \
	%D%/print_fields.c \
	%D%/print_fields.h \
	%D%/print_internal.h \
	%D%/print_json.c \
	%D%/print_text.c \
	%D%/probe_list.c \
	%D%/probe_list.h \
	%D%/text_line.h \
	%D%/writer.c \
	%D%/writer.h
