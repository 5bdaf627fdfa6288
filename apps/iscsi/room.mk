# SPDX-License-Identifier: BSD-2-Clause
# iSCSI (RFC 7143): PDU, reader, firing, printing

libapps_a_SOURCES += \
	%D%/iscsi.h \
	%D%/iscsi_pdu.c \
	%D%/iscsi_probes.c \
	%D%/iscsi_reader.c
