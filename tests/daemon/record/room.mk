# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_closed_reply

check_tests += \
	%D%/every_capture.sh \
	%D%/records.sh

