# SPDX-License-Identifier: BSD-2-Clause
# JSON, units, text, log, event loop, clocks, threads, locks, arrays, paths, output, descriptors of sockets that capture

libbase_a_SOURCES += \
	%D%/array.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/high_sockets.c \
	%D%/high_sockets.h \
	%D%/json.c \
	%D%/json.h \
	%D%/log.c \
	%D%/log.h \
	%D%/log_debug.c \
	%D%/log_limit.c \
	%D%/loop.c \
	%D%/loop.h \
	%D%/output.c \
	%D%/output.h \
	%D%/output_file.c \
	%D%/output_file.h \
	%D%/path.c \
	%D%/path.h \
	%D%/progress.c \
	%D%/text.c \
	%D%/text.h \
	%D%/thread.c \
	%D%/thread.h \
	%D%/units.c \
	%D%/units.h
