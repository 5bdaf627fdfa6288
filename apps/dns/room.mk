# SPDX-License-Identifier: BSD-2-Clause
# DNS (RFC 1035): message, reader, firing, printing

libapps_a_SOURCES += \
	%D%/dns.h \
	%D%/dns_message.c \
	%D%/dns_probes.c \
	%D%/dns_reader.c \
	%D%/dns_requests.c
