# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_iscsi

all_tests += \
	%D%/iscsi.sh \
	%D%/iscsi_flood.sh
