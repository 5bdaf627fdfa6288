# SPDX-License-Identifier: BSD-2-Clause

quick_tests += \
	%D%/lint.sh \
	%D%/manual.sh \
	%D%/rooms.sh

check_tests += \
	%D%/build.sh \
	%D%/debian.sh \
	%D%/readme.sh \
	%D%/shellcheck.sh

all_tests += \
	%D%/anywhere.sh \
	%D%/dist.sh \
	%D%/new_provider.sh \
	%D%/reproducible.sh

