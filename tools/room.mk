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
	%D%/record.c \
	%D%/record.h \
	%D%/record_directory.c \
	%D%/record_directory.h \
	%D%/record_queue.c \
	%D%/record_queue.h \
	%D%/record_settings.c \
	%D%/record_settings.h \
	%D%/record_writer.c \
	%D%/record_writer.h \
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
	%D%/write_client.h
netobsctl_LDADD = libhistory.a $(ENGINE) $(LIBRARIES_USED) $(JANSSON_LIBS)
