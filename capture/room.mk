# SPDX-License-Identifier: BSD-2-Clause
# frames of interfaces and capture files, in batches

libcapture_a_SOURCES += \
	%D%/batch.c \
	%D%/batch.h \
	%D%/fanout.c \
	%D%/fanout.h \
	%D%/frame_sink.h \
	%D%/input.h \
	%D%/link_filters.c \
	%D%/link_filters.h \
	%D%/live.c \
	%D%/live.h \
	%D%/live_internal.h \
	%D%/live_pcap_open.c \
	%D%/live_pcap_open.h \
	%D%/live_pcap_suspend.c \
	%D%/live_pcap_suspend.h \
	%D%/live_reopen.c \
	%D%/live_ring.c \
	%D%/packet_clock.c \
	%D%/packet_clock.h \
	%D%/packet_ring.c \
	%D%/packet_ring.h \
	%D%/pcap_common.c \
	%D%/pcap_common.h \
	%D%/replay.c \
	%D%/replay.h \
	%D%/ring_geometry.c \
	%D%/ring_geometry.h
