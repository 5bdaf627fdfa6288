# SPDX-License-Identifier: BSD-2-Clause
# The verdict of a report: its sentences and what they count.

netobs_report_SOURCES += \
	%D%/report_verdict.c \
	%D%/report_verdict.h
