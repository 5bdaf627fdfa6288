# SPDX-License-Identifier: BSD-2-Clause
# --write: captures with the whole connections of which a probe or formula has fired

libdaemon_a_SOURCES += \
	%D%/excerpt_file.c \
	%D%/excerpt_file.h \
	%D%/excerpt_first_pass.c \
	%D%/excerpt_first_pass.h \
	%D%/excerpt_index.c \
	%D%/excerpt_index.h \
	%D%/excerpts.c \
	%D%/excerpts.h
