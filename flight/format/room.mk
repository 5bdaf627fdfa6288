# SPDX-License-Identifier: BSD-2-Clause
# the bytes of captures: pcapng, pcap, snoop

libflight_a_SOURCES += \
	%D%/capture_writer.c \
	%D%/capture_writer.h
