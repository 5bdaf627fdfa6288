# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_smb

shell_tests += \
	%D%/smb.sh
