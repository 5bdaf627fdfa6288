# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_split_files \
	%D%/test_split_groups
sanitizers_tests += \
	%D%/split.sh

all_tests += \
	%D%/shards.sh
