# SPDX-License-Identifier: BSD-2-Clause
# what formulas test besides numbers: addresses, patterns, libpcap filters

libformulas_a_SOURCES += \
	%D%/address.c \
	%D%/address.h \
	%D%/filter_text.c \
	%D%/filter_text.h \
	%D%/pattern.c \
	%D%/pattern.h \
	%D%/pcap_test.c \
	%D%/pcap_test.h
