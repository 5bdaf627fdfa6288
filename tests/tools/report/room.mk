# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/report.sh
unit_tests += \
	%D%/test_report_lines \
	%D%/test_report_volume
%C%_test_report_lines_SOURCES = %D%/test_report_lines.c tools/report/report_lines.c tools/report/report_lines.h
%C%_test_report_volume_SOURCES = %D%/test_report_volume.c tools/report/report_volume.c tools/report/report_volume.h

%D%/report.log: bench/gentrace
