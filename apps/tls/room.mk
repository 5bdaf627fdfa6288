# SPDX-License-Identifier: BSD-2-Clause
# TLS (RFC 8446, RFC 5246): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/tls_app.c \
	%D%/tls_args.c \
	%D%/tls_args.h \
	%D%/tls_fire.c \
	%D%/tls_fire.h \
	%D%/tls_message.c \
	%D%/tls_message.h \
	%D%/tls_print.c \
	%D%/tls_print.h \
	%D%/tls_reader.c \
	%D%/tls_reader.h
