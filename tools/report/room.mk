# SPDX-License-Identifier: BSD-2-Clause
# netobs-report makes the page of `netobs report` of what netobsd prints.

libexec_PROGRAMS = netobs-report
netobs_report_SOURCES = \
	tools/unnamed_file.c \
	%D%/report_capture.c \
	%D%/report_capture.h \
	%D%/report_data.c \
	%D%/report_data.h \
	%D%/report_detail.c \
	%D%/report_detail.h \
	%D%/report_duplicates.c \
	%D%/report_duplicates.h \
	%D%/report_ends.c \
	%D%/report_ends.h \
	%D%/report_exchanges.c \
	%D%/report_exchanges.h \
	%D%/report_lines.c \
	%D%/report_lines.h \
	%D%/report_live.c \
	%D%/report_live.h \
	%D%/report_main.c \
	%D%/report_overview.c \
	%D%/report_overview.h \
	%D%/report_page.c \
	%D%/report_page.h \
	%D%/report_records.c \
	%D%/report_records.h \
	%D%/report_talkers.c \
	%D%/report_talkers.h \
	%D%/report_volume.c \
	%D%/report_volume.h
netobs_report_LDADD = libformulas.a libpage.a libprobes.a libbase.a $(NETTLE_LIBS) $(PCAP_LIBS)
