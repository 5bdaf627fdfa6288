# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_fragment_frames \
	%D%/test_ring \
	%D%/test_ring_model \
	%D%/test_ring_reader

check_tests += \
	%D%/flight.sh

libtests_a_SOURCES += \
	%D%/ring_fixture.c \
	%D%/ring_fixture.h
