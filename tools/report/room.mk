# SPDX-License-Identifier: BSD-2-Clause
# netobs-report observes captures and makes the page of `netobs report`.

libexec_PROGRAMS = netobs-report
netobs_report_SOURCES = \
	%D%/report_capture.c \
	%D%/report_capture.h \
	%D%/report_detail.c \
	%D%/report_detail.h \
	%D%/report_facts.c \
	%D%/report_facts.h \
	%D%/report_main.c \
	%D%/report_page.c \
	%D%/report_page.h \
	%D%/report_pass.c \
	%D%/report_pass.h \
	%D%/report_records.c \
	%D%/report_records.h \
	%D%/report_verdict.c \
	%D%/report_verdict.h \
	%D%/report_verdict_answers.c \
	%D%/report_verdict_connections.c \
	%D%/report_volume.c \
	%D%/report_volume.h
netobs_report_LDFLAGS = $(HARDEN_LDFLAGS) $(LTO_LDFLAGS)
netobs_report_LDADD = libpage.a $(ENGINE) $(LIBRARIES_USED)
