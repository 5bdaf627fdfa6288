# SPDX-License-Identifier: BSD-2-Clause
# What the programs write: paths, and readers that go away.

libpaths_a_SOURCES += \
	%D%/closed_output.c \
	%D%/closed_output.h \
	%D%/descriptor_path.c \
	%D%/descriptor_path.h \
	%D%/output_path.c \
	%D%/output_path.h \
	%D%/unit_clause.c \
	%D%/unit_clause.h
