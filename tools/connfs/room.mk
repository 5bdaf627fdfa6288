# SPDX-License-Identifier: BSD-2-Clause
# netobs-connfs: connections as a file system.

if HAVE_FUSE
bin_PROGRAMS = netobs-connfs
endif
netobs_connfs_SOURCES = \
	tools/control_client.c \
	tools/json_reader.c \
	tools/write_client.c \
	tools/connections/connection_list.c \
	%D%/connfs.c \
	%D%/connfs_closed.c \
	%D%/connfs_closed.h \
	%D%/connfs_list.c \
	%D%/connfs_list.h \
	%D%/connfs_open.c \
	%D%/connfs_open.h \
	%D%/connfs_tree.c \
	%D%/connfs_tree.h
netobs_connfs_CFLAGS = $(AM_CFLAGS) $(FUSE_CFLAGS)
netobs_connfs_LDADD = libhistory.a $(ENGINE) $(LIBRARIES_USED) $(FUSE_LIBS) $(JANSSON_LIBS)
