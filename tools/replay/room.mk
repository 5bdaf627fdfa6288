# SPDX-License-Identifier: BSD-2-Clause
# Programs run netobsd on captures for the history of one connection.

netobsctl_SOURCES += \
	%D%/history.c \
	%D%/history.h \
	%D%/history_lines.c \
	%D%/history_lines.h \
	%D%/replay.c \
	%D%/replay.h
