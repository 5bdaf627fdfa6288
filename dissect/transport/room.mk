# SPDX-License-Identifier: BSD-2-Clause
# TCP, UDP, SCTP, DCCP headers

libdissect_a_SOURCES += \
	%D%/dccp.c \
	%D%/sctp.c \
	%D%/sctp.h \
	%D%/tcp.c \
	%D%/transport.c
