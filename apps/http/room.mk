# SPDX-License-Identifier: BSD-2-Clause
# HTTP/1 (RFC 9112): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/http_app.c \
	%D%/http_args.c \
	%D%/http_args.h \
	%D%/http_body.c \
	%D%/http_fire.c \
	%D%/http_fire.h \
	%D%/http_line.c \
	%D%/http_line.h \
	%D%/http_message.c \
	%D%/http_message.h \
	%D%/http_print.c \
	%D%/http_print.h \
	%D%/http_queue.c \
	%D%/http_queue.h \
	%D%/http_reader.c \
	%D%/http_reader.h \
	%D%/http_request.c \
	%D%/http_response.c
