# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_counters

quick_tests += \
	%D%/manual_tables.sh

check_tests += \
	%D%/uncaptured.sh

EXTRA_PROGRAMS += %D%/manual_tables
%D%/manual_tables.log: %D%/manual_tables
