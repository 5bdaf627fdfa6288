# SPDX-License-Identifier: BSD-2-Clause
# --records: the file and its keeper, the lines

libdaemon_a_SOURCES += \
	%D%/record_file.c \
	%D%/record_file.h \
	%D%/record_keeper.c \
	%D%/record_keeper.h \
	%D%/record_output.c \
	%D%/record_output.h
