# SPDX-License-Identifier: BSD-2-Clause
# --write: captures with the whole connections of which a probe or formula has fired

libdaemon_a_SOURCES += \
	%D%/excerpt_comments.c \
	%D%/excerpt_comments.h \
	%D%/excerpt_file.c \
	%D%/excerpt_file.h \
	%D%/excerpt_first_pass.c \
	%D%/excerpt_first_pass.h \
	%D%/excerpt_index.c \
	%D%/excerpt_index.h \
	%D%/excerpt_late.c \
	%D%/excerpt_late.h \
	%D%/excerpt_left.c \
	%D%/excerpt_left.h \
	%D%/excerpt_selection.h \
	%D%/excerpt_waiting.c \
	%D%/excerpt_waiting.h \
	%D%/excerpt_write.c \
	%D%/excerpts.c \
	%D%/excerpts.h \
	%D%/excerpts_internal.h \
	%D%/spool.c \
	%D%/spool.h
