# SPDX-License-Identifier: BSD-2-Clause
# files that a run writes: complete or absent

libdaemon_a_SOURCES += \
	%D%/file_keeper.c \
	%D%/file_keeper.h \
	%D%/output_file.c \
	%D%/output_file.h
