# SPDX-License-Identifier: BSD-2-Clause
# TCP bytes in order, and the connections whose bytes an application reads

libflow_a_SOURCES += \
	%D%/app_flow.c \
	%D%/app_flow.h \
	%D%/app_flow_index.c \
	%D%/app_flow_index.h \
	%D%/app_reader.h \
	%D%/first_bytes_pool.c \
	%D%/first_bytes_pool.h \
	%D%/stream.c \
	%D%/stream.h
