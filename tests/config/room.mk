# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_config_file \
	%D%/test_options

quick_tests += \
	%D%/option_files.sh

EXTRA_PROGRAMS += %D%/option_files
%D%/option_files.log: %D%/option_files
