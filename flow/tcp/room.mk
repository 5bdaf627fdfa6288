# SPDX-License-Identifier: BSD-2-Clause
# the TCP machine of each endpoint, retransmissions, round-trip times

libflow_a_SOURCES += \
	%D%/tcp.h \
	%D%/tcp_check.c \
	%D%/tcp_check.h \
	%D%/tcp_delivery.c \
	%D%/tcp_dispatch.c \
	%D%/tcp_fastpath.h \
	%D%/tcp_flow.c \
	%D%/tcp_holes.c \
	%D%/tcp_incarnation.c \
	%D%/tcp_internal.h \
	%D%/tcp_loss.c \
	%D%/tcp_machine.c \
	%D%/tcp_machine.h \
	%D%/tcp_order.c \
	%D%/tcp_pools.c \
	%D%/tcp_pools.h \
	%D%/tcp_receive.c \
	%D%/tcp_retransmit.c \
	%D%/tcp_segment.c \
	%D%/tcp_send.c \
	%D%/tcp_transition.c
