# SPDX-License-Identifier: BSD-2-Clause
# `netobsctl connections`: connections as a table.

netobsctl_SOURCES += \
	%D%/connection_list.c \
	%D%/connection_list.h \
	%D%/connections.c \
	%D%/connections.h
