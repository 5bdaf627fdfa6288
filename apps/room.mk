# SPDX-License-Identifier: BSD-2-Clause
# the list of application providers

libapps_a_SOURCES += \
	%D%/app.c \
	%D%/app.def \
	%D%/app.h
