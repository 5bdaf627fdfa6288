# SPDX-License-Identifier: BSD-2-Clause
# What a probe site is: a nop, its note, its semaphore.  Headers only.

libengine_a_SOURCES += \
	%D%/site.h \
	%D%/site_disabled.h
