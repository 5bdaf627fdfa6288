# SPDX-License-Identifier: BSD-2-Clause
# --split: a capture as several captures, each with whole connections

libdaemon_a_SOURCES += \
	%D%/split.c \
	%D%/split.h \
	%D%/split_files.c \
	%D%/split_files.h \
	%D%/split_groups.c \
	%D%/split_groups.h \
	%D%/split_keys.c \
	%D%/split_keys.h
