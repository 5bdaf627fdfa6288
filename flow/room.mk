# SPDX-License-Identifier: BSD-2-Clause
# what all connections share, the fast path, UDP streams

libflow_a_SOURCES += \
	%D%/duplicates.c \
	%D%/duplicates.h \
	%D%/endpoint.h \
	%D%/event.h \
	%D%/fastpath.c \
	%D%/fastpath.h \
	%D%/flow.h \
	%D%/flow_internal.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/protocols.c \
	%D%/udp_flow.c
