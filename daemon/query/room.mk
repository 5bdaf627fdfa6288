# SPDX-License-Identifier: BSD-2-Clause
# control socket

libdaemon_a_SOURCES += \
	%D%/control.c \
	%D%/control.h \
	%D%/control_reply.c \
	%D%/control_reply.h \
	%D%/control_reply_connections.c \
	%D%/control_reply_frames.c \
	%D%/control_reply_owner.c \
	%D%/control_request.c \
	%D%/control_request.h \
	%D%/frame_programs.c \
	%D%/frame_programs.h \
	%D%/query_context.h \
	%D%/server.c \
	%D%/server.h \
	%D%/service_table.c \
	%D%/service_table.h \
	%D%/feeds.c \
	%D%/feeds.h \
	%D%/unix_socket.c \
	%D%/unix_socket.h
