# SPDX-License-Identifier: BSD-2-Clause
# Programs beside the daemon.

sbin_PROGRAMS += netobsctl
netobsctl_SOURCES = \
	%D%/control_client.c \
	%D%/control_client.h \
	%D%/json_reader.c \
	%D%/json_reader.h \
	%D%/netobsctl.c \
	%D%/reply_text.c \
	%D%/reply_text.h \
	%D%/site_names.c \
	%D%/site_names.h \
	%D%/stream.c \
	%D%/stream.h \
	%D%/write.c \
	%D%/write.h \
	%D%/write_client.c \
	%D%/write_client.h \
	%D%/write_on.c
netobsctl_LDADD = libhistory.a $(ENGINE) $(LIBRARIES_USED) $(JANSSON_LIBS)
