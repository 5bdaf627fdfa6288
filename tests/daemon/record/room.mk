# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/every_capture.sh \
	%D%/records.sh

