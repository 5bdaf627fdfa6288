# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_capture_writer

check_tests += \
	%D%/formats.sh

EXTRA_PROGRAMS += %D%/write_capture
%D%/formats.log: %D%/write_capture
