# SPDX-License-Identifier: BSD-2-Clause

check_tests += \
	%D%/report.sh

# Live interfaces; two million packets; the body of the comparisons with tshark.
all_tests += \
	%D%/report_live.sh \
	%D%/report_size.sh \
	%D%/report_tshark.sh

# It measures time.
speed_tests += \
	%D%/report_speed.sh

unit_tests += \
	%D%/test_report_records \
	%D%/test_report_volume
%C%_test_report_records_SOURCES = %D%/test_report_records.c \
	tools/report/report_records.c tools/report/report_records.h
%C%_test_report_volume_SOURCES = %D%/test_report_volume.c tools/report/report_volume.c tools/report/report_volume.h

%D%/report_size.log %D%/report_speed.log: bench/gentrace
