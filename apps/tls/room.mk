# SPDX-License-Identifier: BSD-2-Clause
# TLS (RFC 8446, RFC 5246): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/tls_app.c \
	%D%/tls_args.c \
	%D%/tls_args.h \
	%D%/tls_cipher.def \
	%D%/tls_extension.c \
	%D%/tls_extension.h \
	%D%/tls_fire.c \
	%D%/tls_fire.h \
	%D%/tls_hello.c \
	%D%/tls_hello.h \
	%D%/tls_ja4.c \
	%D%/tls_ja4.h \
	%D%/tls_message.c \
	%D%/tls_message.h \
	%D%/tls_names.c \
	%D%/tls_names.h \
	%D%/tls_print.c \
	%D%/tls_print.h \
	%D%/tls_reader.c \
	%D%/tls_reader.h
