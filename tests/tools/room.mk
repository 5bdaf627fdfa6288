# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_complete_file
%C%_test_complete_file_SOURCES = %D%/test_complete_file.c tools/complete_file.c tools/complete_file.h
