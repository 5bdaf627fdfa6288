# SPDX-License-Identifier: BSD-2-Clause
# netobs-report observes captures and makes the page of `netobs report`.

libexec_PROGRAMS = netobs-report
netobs_report_SOURCES = \
	%D%/report_attempts.c \
	%D%/report_capture.c \
	%D%/report_capture.h \
	%D%/report_detail.c \
	%D%/report_detail.h \
	%D%/report_endings.c \
	%D%/report_facts.c \
	%D%/report_facts.h \
	%D%/report_failures.c \
	%D%/report_failures.h \
	%D%/report_findings.c \
	%D%/report_findings.h \
	%D%/report_main.c \
	%D%/report_page.c \
	%D%/report_page.h \
	%D%/report_pass.c \
	%D%/report_pass.h \
	%D%/report_protocols.c \
	%D%/report_quality.c \
	%D%/report_records.c \
	%D%/report_records.h \
	%D%/report_summary.c \
	%D%/report_summary.h \
	%D%/report_volume.c \
	%D%/report_volume.h \
	%D%/report_waiting.c
netobs_report_LDFLAGS = $(HARDEN_LDFLAGS) $(LTO_LDFLAGS)
netobs_report_LDADD = libpage.a $(ENGINE) $(LIBRARIES_USED)
