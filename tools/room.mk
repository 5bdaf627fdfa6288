# SPDX-License-Identifier: BSD-2-Clause
# Programs beside the daemon.

sbin_PROGRAMS += netobsctl
netobsctl_SOURCES = \
	%D%/complete_file.c \
	%D%/complete_file.h \
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
	%D%/stream_files.c \
	%D%/stream_files.h \
	%D%/unnamed_file.c \
	%D%/unnamed_file.h \
	%D%/write.c \
	%D%/write.h \
	%D%/write_client.c \
	%D%/write_client.h \
	%D%/write_filter.c \
	%D%/write_filter.h \
	%D%/write_on.c \
	%D%/write_on.h \
	%D%/write_on_directory.c \
	%D%/write_on_directory.h \
	%D%/write_on_queue.c \
	%D%/write_on_queue.h \
	%D%/write_on_settings.c \
	%D%/write_on_settings.h \
	%D%/write_on_writer.c \
	%D%/write_on_writer.h
netobsctl_LDADD = libhistory.a $(ENGINE) $(LIBRARIES_USED) $(JANSSON_LIBS)
