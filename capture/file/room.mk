# SPDX-License-Identifier: BSD-2-Clause
# bytes of capture files: decompression, and the readers of their formats

libcapture_a_SOURCES += \
	%D%/decompress.c \
	%D%/decompress.h \
	%D%/file_stream.c \
	%D%/file_stream.h \
	%D%/frame_reader.c \
	%D%/frame_reader.h \
	%D%/frame_reader_internal.h \
	%D%/pcap_reader.c \
	%D%/pcap_reader.h \
	%D%/pcapng_reader.c \
	%D%/reader_threads.c \
	%D%/reader_threads.h \
	%D%/snoop_reader.c
