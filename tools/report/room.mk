# SPDX-License-Identifier: BSD-2-Clause
# netobs-report observes captures and makes the page of `netobs report`.

libexec_PROGRAMS = netobs-report
netobs_report_SOURCES = \
	tools/unnamed_file.c \
	%D%/report_attempts.c \
	%D%/report_capture.c \
	%D%/report_capture.h \
	%D%/report_detail.c \
	%D%/report_detail.h \
	%D%/report_endings.c \
	%D%/report_ends.c \
	%D%/report_ends.h \
	%D%/report_exchanges.c \
	%D%/report_exchanges.h \
	%D%/report_failures.c \
	%D%/report_failures.h \
	%D%/report_findings.c \
	%D%/report_findings.h \
	%D%/report_input.c \
	%D%/report_input.h \
	%D%/report_live.c \
	%D%/report_live.h \
	%D%/report_main.c \
	%D%/report_overview.c \
	%D%/report_overview.h \
	%D%/report_page.c \
	%D%/report_page.h \
	%D%/report_pass.c \
	%D%/report_pass.h \
	%D%/report_protocols.c \
	%D%/report_quality.c \
	%D%/report_records.c \
	%D%/report_records.h \
	%D%/report_talkers.c \
	%D%/report_talkers.h \
	%D%/report_texts.c \
	%D%/report_texts.h \
	%D%/report_volume.c \
	%D%/report_volume.h \
	%D%/report_waiting.c
netobs_report_LDFLAGS = $(HARDEN_LDFLAGS) $(LTO_LDFLAGS)
netobs_report_LDADD = libpage.a $(ENGINE) $(LIBRARIES_USED)
