# SPDX-License-Identifier: BSD-2-Clause
# the SCTP machine of each endpoint and the table of its addresses

libflow_a_SOURCES += \
	%D%/sctp.h \
	%D%/sctp_addr_table.c \
	%D%/sctp_flow.c \
	%D%/sctp_internal.h \
	%D%/sctp_machine.c
