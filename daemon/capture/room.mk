# SPDX-License-Identifier: BSD-2-Clause
# interfaces and capture files

libdaemon_a_SOURCES += \
	%D%/decompress.h \
	%D%/decompress_gzip.c \
	%D%/decompress_zstd.c \
	%D%/fanout.c \
	%D%/fanout.h \
	%D%/file_stream.c \
	%D%/file_stream.h \
	%D%/input.h \
	%D%/live.c \
	%D%/live.h \
	%D%/live_internal.h \
	%D%/live_pcap_open.c \
	%D%/live_pcap_open.h \
	%D%/live_pcap_suspend.c \
	%D%/live_pcap_suspend.h \
	%D%/live_reopen.c \
	%D%/pcap_common.c \
	%D%/pcap_common.h \
	%D%/pcap_reader.c \
	%D%/pcap_reader.h \
	%D%/replay.c \
	%D%/replay.h \
	%D%/workers.c \
	%D%/workers.h
