# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_smb

all_tests += \
	%D%/smb.sh
