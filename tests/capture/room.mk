# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_batch \
	%D%/test_live_interface \
	%D%/test_packet_clock \
	%D%/test_packet_ring \
	%D%/test_pcap_reader \
	%D%/test_replay

check_tests += \
	%D%/formats.sh

# Damaged captures, and threads.
sanitizers_tests += \
	%D%/damaged_formats.sh \
	%D%/decompress_threads.sh \
	%D%/decompress_windows.sh

