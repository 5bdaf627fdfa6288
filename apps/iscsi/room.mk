# SPDX-License-Identifier: BSD-2-Clause
# iSCSI (RFC 7143): PDU, reader, firing, printing

libapps_a_SOURCES += \
	%D%/iscsi_app.c \
	%D%/iscsi_args.c \
	%D%/iscsi_args.h \
	%D%/iscsi_fire.c \
	%D%/iscsi_fire.h \
	%D%/iscsi_login.c \
	%D%/iscsi_pdu.c \
	%D%/iscsi_pdu.h \
	%D%/iscsi_print.c \
	%D%/iscsi_print.h \
	%D%/iscsi_reader.c \
	%D%/iscsi_reader.h \
	%D%/iscsi_resync.c \
	%D%/iscsi_text.c \
	%D%/iscsi_text.h
