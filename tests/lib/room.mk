# SPDX-License-Identifier: BSD-2-Clause
# What tests share.

EXTRA_LIBRARIES = libtests.a
libtests_a_SOURCES = \
	%D%/json_check.c \
	%D%/json_check.h \
	%D%/other_programs.h \
	%D%/scratch_dir.c \
	%D%/scratch_dir.h \
	%D%/tcp_fixture.h \
	tests/dissect/frame_buffer.c \
	tests/dissect/frame_buffer.h \
	tests/probes/probe_args_sample.c \
	tests/probes/probe_args_sample.h
CLEANFILES += libtests.a
