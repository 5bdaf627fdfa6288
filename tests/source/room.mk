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

# They need git, and compile the tree again; anywhere.sh makes a Debian, shellcheck_whole.sh takes a minute.
all_tests += \
	%D%/anywhere.sh \
	%D%/dist.sh \
	%D%/reproducible.sh \
	%D%/shellcheck_whole.sh

