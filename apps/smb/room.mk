# SPDX-License-Identifier: BSD-2-Clause
# SMB 2 and 3 (MS-SMB2): message, body, tables, sessions, reader, firing, printing

libapps_a_SOURCES += \
	%D%/smb_app.c \
	%D%/smb_args.c \
	%D%/smb_args.h \
	%D%/smb_body.c \
	%D%/smb_body.h \
	%D%/smb_fire.c \
	%D%/smb_fire.h \
	%D%/smb_message.c \
	%D%/smb_message.h \
	%D%/smb_names.c \
	%D%/smb_names.h \
	%D%/smb_operation.c \
	%D%/smb_print.c \
	%D%/smb_print.h \
	%D%/smb_reader.c \
	%D%/smb_reader.h \
	%D%/smb_sessions.c \
	%D%/smb_sessions.h \
	%D%/smb_status.def \
	%D%/smb_tables.c \
	%D%/smb_tables.h
