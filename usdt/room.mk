# SPDX-License-Identifier: BSD-2-Clause
# What a probe site is: a nop, its note, its semaphore, its row in a table; and how DTrace learns of it.

libengine_a_SOURCES += \
	%D%/dtprobed.c \
	%D%/dtprobed.h \
	%D%/site.h \
	%D%/site_disabled.h \
	%D%/site_table.c \
	%D%/site_table.h
