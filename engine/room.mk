# SPDX-License-Identifier: BSD-2-Clause
# the private provider netobs_engine: probes of netobsd itself

libengine_a_SOURCES += \
	%D%/engine.c \
	%D%/engine.def \
	%D%/engine.h
