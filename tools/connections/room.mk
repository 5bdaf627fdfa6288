# SPDX-License-Identifier: BSD-2-Clause
# `netobsctl connections` and `netobsctl top`: connections as a table, once or in intervals.

netobsctl_SOURCES += \
	%D%/connection_list.c \
	%D%/connection_list.h \
	%D%/connections.c \
	%D%/connections.h \
	%D%/terminal.c \
	%D%/terminal.h \
	%D%/top.c \
	%D%/top.h \
	%D%/top_screen.c \
	%D%/top_screen.h
netobsctl_LDADD += $(NCURSES_LIBS)
