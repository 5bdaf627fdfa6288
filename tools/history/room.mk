# SPDX-License-Identifier: BSD-2-Clause
# The history of a connection: packets to rows, in a process of its own, and rows to text.

noinst_LIBRARIES += libhistory.a
libhistory_a_SOURCES = \
	%D%/history.c \
	%D%/history.h \
	%D%/history_ladder.c
