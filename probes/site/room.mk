# SPDX-License-Identifier: BSD-2-Clause
# probe sites and semaphores

libprobes_a_SOURCES += \
	%D%/semaphores.h \
	%D%/site_select.c \
	%D%/site_select.h \
	%D%/tracer_watch.c \
	%D%/tracer_watch.h
