# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_split_files \
	%D%/test_split_groups
%C%_test_split_files_LDADD = libsplit.a $(LDADD)
%C%_test_split_groups_LDADD = libsplit.a $(LDADD)

check_tests += \
	%D%/split.sh

# Damaged captures, too.
sanitizers_tests += \
	%D%/split_captures.sh

# Every capture again and again.
all_tests += \
	%D%/shards.sh
