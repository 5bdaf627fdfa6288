# SPDX-License-Identifier: BSD-2-Clause
# TLS (RFC 8446, RFC 5246): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/tls.h \
	%D%/tls_cipher.def \
	%D%/tls_hello.c \
	%D%/tls_ja4.c \
	%D%/tls_probes.c \
	%D%/tls_reader.c
