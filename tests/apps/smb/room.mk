# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_smb

quick_tests += \
	%D%/channels.sh

# Real servers and clients.
all_tests += \
	%D%/smb.sh
