# SPDX-License-Identifier: BSD-2-Clause
# Facts of a report.

netobs_report_SOURCES += \
	%D%/report_beginnings.c \
	%D%/report_facts.c \
	%D%/report_facts.h
