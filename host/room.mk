# SPDX-License-Identifier: BSD-2-Clause
# this host's addresses and devices

libhost_a_SOURCES += \
	%D%/interfaces.c \
	%D%/interfaces.h \
	%D%/local_addrs.c \
	%D%/local_addrs.h \
	%D%/locality.c \
	%D%/locality.h \
	%D%/lower_dedup.c \
	%D%/lower_dedup.h \
	%D%/rtnl.c \
	%D%/rtnl.h
