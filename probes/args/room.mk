# SPDX-License-Identifier: BSD-2-Clause
# the argument structs, filled

libprobes_a_SOURCES += \
	%D%/abi_layout.c \
	%D%/args.h \
	%D%/args_ip.c \
	%D%/args_link.c \
	%D%/args_record.c \
	%D%/args_sctp.c \
	%D%/args_transport.c \
	%D%/connection_id.c \
	%D%/connection_id.h
