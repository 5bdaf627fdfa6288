# SPDX-License-Identifier: BSD-2-Clause
# HTTP/1 (RFC 9112): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/http.h \
	%D%/http_message.c \
	%D%/http_probes.c \
	%D%/http_queue.c \
	%D%/http_reader.c
