# SPDX-License-Identifier: BSD-2-Clause
# Paths of what the programs write.

libpaths_a_SOURCES += \
	%D%/output_path.c \
	%D%/output_path.h
