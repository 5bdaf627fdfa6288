# SPDX-License-Identifier: BSD-2-Clause
# which process owns a socket

libowner_a_SOURCES += \
	%D%/owner_lookup.c \
	%D%/owner_lookup.h \
	%D%/owner_table.c \
	%D%/owner_table.h \
	%D%/owner_thread.c \
	%D%/owner_thread.h \
	%D%/procfs.c \
	%D%/procfs.h \
	%D%/sockdiag.c \
	%D%/sockdiag.h
