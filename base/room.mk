# SPDX-License-Identifier: BSD-2-Clause
# log, event loop, clocks, threads, locks, buffers, trusted paths, descriptors of sockets that capture

libbase_a_SOURCES += \
	%D%/array.c \
	%D%/array.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/fair_lock.h \
	%D%/high_sockets.c \
	%D%/high_sockets.h \
	%D%/log.c \
	%D%/log.h \
	%D%/log_debug.c \
	%D%/log_debug.h \
	%D%/log_limit.c \
	%D%/log_limit.h \
	%D%/loop.c \
	%D%/loop.h \
	%D%/output.c \
	%D%/output.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/text_buffer.c \
	%D%/text_buffer.h \
	%D%/thread.c \
	%D%/thread.h \
	%D%/time_histogram.c \
	%D%/time_histogram.h \
	%D%/trusted_path.c \
	%D%/trusted_path.h
