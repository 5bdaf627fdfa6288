# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_iscsi

# Real targets and initiators; a flood.
all_tests += \
	%D%/iscsi.sh \
	%D%/iscsi_flood.sh
