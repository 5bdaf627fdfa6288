# SPDX-License-Identifier: BSD-2-Clause
# options and netobs.conf(5)

libconfig_a_SOURCES += \
	%D%/command_line.c \
	%D%/config.h \
	%D%/config_file.c \
	%D%/formula_names.c \
	%D%/formula_names.h \
	%D%/metrics_address.c \
	%D%/metrics_address.h \
	%D%/option_time.c \
	%D%/option_values.c \
	%D%/options.c \
	%D%/options.h
