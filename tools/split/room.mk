# SPDX-License-Identifier: BSD-2-Clause
# netobs-split: a capture as several captures, each with whole connections.

noinst_LIBRARIES += libsplit.a
libsplit_a_SOURCES = \
	%D%/split.c \
	%D%/split.h \
	%D%/split_files.c \
	%D%/split_files.h \
	%D%/split_groups.c \
	%D%/split_groups.h

libexec_PROGRAMS += netobs-split
netobs_split_SOURCES = %D%/split_main.c
netobs_split_LDFLAGS = $(HARDEN_LDFLAGS) $(LTO_LDFLAGS)
netobs_split_LDADD = libsplit.a $(ENGINE) $(LIBRARIES_USED)
