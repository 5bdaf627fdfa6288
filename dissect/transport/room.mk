# SPDX-License-Identifier: BSD-2-Clause
# TCP, UDP, SCTP, DCCP headers

libdissect_a_SOURCES += \
	%D%/dccp.c \
	%D%/sctp.c \
	%D%/sctp_chunks.c \
	%D%/sctp_chunks.h \
	%D%/tcp.c \
	%D%/tcp_options.c \
	%D%/transport.c \
	%D%/udp.c
