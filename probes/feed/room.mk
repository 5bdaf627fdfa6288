# SPDX-License-Identifier: BSD-2-Clause
# firings as lines for feeds

libprobes_a_SOURCES += \
	%D%/feed.c \
	%D%/feed.h \
	%D%/feed_queue.c \
	%D%/feed_queue.h
