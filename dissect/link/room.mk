# SPDX-License-Identifier: BSD-2-Clause
# link layers: Ethernet, cooked capture, MPLS, PPPoE; ARP

libdissect_a_SOURCES += \
	%D%/arp.c \
	%D%/cooked.c \
	%D%/ethernet.c \
	%D%/link.c \
	%D%/mpls.c \
	%D%/pppoe.c
