# SPDX-License-Identifier: BSD-2-Clause
# the SCTP machine of each endpoint and the table of its addresses

libflow_a_SOURCES += \
	%D%/sctp.h \
	%D%/sctp_addr_table.c \
	%D%/sctp_addr_table.h \
	%D%/sctp_flow.c \
	%D%/sctp_machine.c \
	%D%/sctp_machine.h \
	%D%/sctp_packet.c \
	%D%/sctp_packet.h
