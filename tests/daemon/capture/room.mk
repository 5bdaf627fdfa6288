# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_pcap_reader \
	%D%/test_replay
