# SPDX-License-Identifier: BSD-2-Clause
# the process: start, main loop, reload, end

libdaemon_a_SOURCES += \
	%D%/dtrace.c \
	%D%/dtrace.h \
	%D%/formula_sites.c \
	%D%/formula_sites.h \
	%D%/reload.c \
	%D%/reload.h \
	%D%/run.c \
	%D%/run.h \
	%D%/service.c \
	%D%/service.h
