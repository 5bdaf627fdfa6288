# SPDX-License-Identifier: BSD-2-Clause
# IPv4, IPv6, ICMP, tunnels over IP

libdissect_a_SOURCES += \
	%D%/icmp.c \
	%D%/ip.c \
	%D%/ipv4.c \
	%D%/ipv6.c \
	%D%/tunnel.c
