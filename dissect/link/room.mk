# SPDX-License-Identifier: BSD-2-Clause
# link layers: Ethernet, cooked capture, MPLS, PPP, PPPoE, HDLC, Frame Relay, headers of captures; ARP

libdissect_a_SOURCES += \
	%D%/arp.c \
	%D%/cooked.c \
	%D%/ethernet.c \
	%D%/link.c \
	%D%/pseudo.c \
	%D%/serial.c \
	%D%/wlan.c
