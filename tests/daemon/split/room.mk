# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_split_files \
	%D%/test_split_groups
shell_tests += \
	%D%/shards.sh \
	%D%/split.sh
quick_shell_tests += \
	%D%/split.sh
