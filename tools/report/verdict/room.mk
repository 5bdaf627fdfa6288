# SPDX-License-Identifier: BSD-2-Clause
# The verdict of a report: its sentences and what they count.

netobs_report_SOURCES += \
	%D%/report_answering.c \
	%D%/report_beginnings.c \
	%D%/report_endings.c \
	%D%/report_facts.c \
	%D%/report_facts.h \
	%D%/report_opening.c \
	%D%/report_quality.c \
	%D%/report_sentence.c \
	%D%/report_sentence.h \
	%D%/report_sentences.h \
	%D%/report_slow_answers.c \
	%D%/report_transfer.c \
	%D%/report_verdict.c \
	%D%/report_verdict.h
