# SPDX-License-Identifier: BSD-2-Clause
# netobsd is run on captures for the page of `netobs report`.

netobs_report_SOURCES += \
	%D%/replay.c \
	%D%/replay.h
