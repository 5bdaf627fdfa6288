# SPDX-License-Identifier: BSD-2-Clause
# SMB 2 and 3 (MS-SMB2): message, body, tables, sessions, reader, firing, printing

libapps_a_SOURCES += \
	%D%/smb.h \
	%D%/smb_message.c \
	%D%/smb_operation.c \
	%D%/smb_probes.c \
	%D%/smb_reader.c \
	%D%/smb_sessions.c \
	%D%/smb_status.def
