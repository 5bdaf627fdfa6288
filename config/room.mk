# SPDX-License-Identifier: BSD-2-Clause
# options and netobs.conf(5)

libconfig_a_SOURCES += \
	%D%/config.h \
	%D%/config_file.c \
	%D%/config_file.h \
	%D%/config_print.c \
	%D%/config_print.h \
	%D%/config_text.c \
	%D%/config_text.h \
	%D%/formula_names.c \
	%D%/formula_names.h \
	%D%/option_time.c \
	%D%/option_values.c \
	%D%/options.c \
	%D%/options.h \
	%D%/options_help.c
