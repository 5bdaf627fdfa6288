# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_anomaly \
	%D%/test_arp \
	%D%/test_checksum \
	%D%/test_common_frame \
	%D%/test_cursor \
	%D%/test_dccp \
	%D%/test_ethernet \
	%D%/test_icmp \
	%D%/test_ipv4 \
	%D%/test_ipv6 \
	%D%/test_link \
	%D%/test_link_types \
	%D%/test_sctp_header \
	%D%/test_tcp_header \
	%D%/test_tunnel \
	%D%/test_udp
