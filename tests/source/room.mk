# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/build.sh \
	%D%/debian.sh \
	%D%/dist.sh \
	%D%/lint.sh \
	%D%/manual.sh \
	%D%/new_provider.sh \
	%D%/readme.sh \
	%D%/rooms.sh

quick_shell_tests += \
	%D%/lint.sh \
	%D%/manual.sh \
	%D%/rooms.sh
