# SPDX-License-Identifier: BSD-2-Clause
# JSON, units, text, log, event loop, clocks, threads, locks, buffers, paths, descriptors of sockets that capture

libbase_a_SOURCES += \
	%D%/array.c \
	%D%/array.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/closed_output.c \
	%D%/closed_output.h \
	%D%/descriptor_path.c \
	%D%/descriptor_path.h \
	%D%/fair_lock.h \
	%D%/format.c \
	%D%/format.h \
	%D%/high_sockets.c \
	%D%/high_sockets.h \
	%D%/json.c \
	%D%/json.h \
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
	%D%/output_file.c \
	%D%/output_file.h \
	%D%/output_path.c \
	%D%/output_path.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/text_buffer.c \
	%D%/text_buffer.h \
	%D%/thread.c \
	%D%/thread.h \
	%D%/time_histogram.c \
	%D%/time_histogram.h \
	%D%/trusted_path.c \
	%D%/trusted_path.h \
	%D%/unit_clause.c \
	%D%/unit_clause.h \
	%D%/units.c \
	%D%/units.h
