# SPDX-License-Identifier: BSD-2-Clause
# DNS (RFC 1035): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/dns_app.c \
	%D%/dns_args.c \
	%D%/dns_args.h \
	%D%/dns_fire.c \
	%D%/dns_fire.h \
	%D%/dns_message.c \
	%D%/dns_message.h \
	%D%/dns_name.c \
	%D%/dns_name.h \
	%D%/dns_print.c \
	%D%/dns_print.h \
	%D%/dns_reader.c \
	%D%/dns_reader.h \
	%D%/dns_requests.c \
	%D%/dns_requests.h \
	%D%/dns_words.c \
	%D%/dns_words.h
