# SPDX-License-Identifier: BSD-2-Clause
# frames of interfaces and capture files, in batches

libcapture_a_SOURCES += \
	%D%/batch.c \
	%D%/batch.h \
	%D%/input.h \
	%D%/link_filters.c \
	%D%/link_filters.h \
	%D%/live.c \
	%D%/live_interface.c \
	%D%/live_interface.h \
	%D%/live_pcap.c \
	%D%/live_pcap.h \
	%D%/packet_clock.c \
	%D%/packet_clock.h \
	%D%/packet_ring.c \
	%D%/packet_ring.h \
	%D%/replay.c
