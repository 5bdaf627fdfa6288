# SPDX-License-Identifier: BSD-2-Clause
# the flight memory: the latest frames in memory, linked by connection

libflight_a_SOURCES += \
	%D%/fragment_frames.c \
	%D%/fragment_frames.h \
	%D%/ring.c \
	%D%/ring.h \
	%D%/ring_add.c \
	%D%/ring_interfaces.c \
	%D%/ring_interfaces.h \
	%D%/ring_internal.h \
	%D%/ring_reader.c
