# SPDX-License-Identifier: BSD-2-Clause
# datagrams out of IP fragments

libflow_a_SOURCES += \
	%D%/reassembly.c \
	%D%/reassembly.h \
	%D%/reassembly_internal.h
