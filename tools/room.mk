# SPDX-License-Identifier: BSD-2-Clause
# Programs beside the daemon.  Of its code they use the search for the nearest word and the names of probe sites.

sbin_PROGRAMS += netobsctl
netobsctl_SOURCES = \
	%D%/complete_file.c \
	%D%/complete_file.h \
	%D%/control_client.c \
	%D%/control_client.h \
	%D%/netobsctl.c \
	%D%/site_names.c \
	%D%/site_names.h \
	%D%/stream.c \
	%D%/stream.h \
	%D%/stream_files.c \
	%D%/stream_files.h \
	%D%/write.c \
	%D%/write.h \
	%D%/write_client.c \
	%D%/write_client.h
netobsctl_LDADD = libformulas.a libprobes.a $(ZSTD_LIBS)
