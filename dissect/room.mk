# SPDX-License-Identifier: BSD-2-Clause
# what the layers share: the cursor, the packet, anomalies, checksums

libdissect_a_SOURCES += \
	%D%/anomaly.c \
	%D%/anomaly.def \
	%D%/anomaly.h \
	%D%/checksum.c \
	%D%/common_frame.c \
	%D%/crc32c.c \
	%D%/crc32c.h \
	%D%/cursor.h \
	%D%/dissect.h \
	%D%/frame.h \
	%D%/header_fields.h \
	%D%/layers.h \
	%D%/packet.h \
	%D%/peek.c \
	%D%/peek.h \
	%D%/reassembled.c
