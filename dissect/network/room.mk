# SPDX-License-Identifier: BSD-2-Clause
# IPv4, IPv6, ICMP, tunnels over IP

libdissect_a_SOURCES += \
	%D%/gre.c \
	%D%/icmp.c \
	%D%/icmp_quote.c \
	%D%/icmpv6.c \
	%D%/ip.c \
	%D%/ipv4.c \
	%D%/ipv6.c \
	%D%/ipv6_extension.c \
	%D%/tunnel.c
