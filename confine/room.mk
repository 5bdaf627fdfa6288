# SPDX-License-Identifier: BSD-2-Clause
# privileges, system-call filter, access to files, inherited descriptors

libconfine_a_SOURCES += \
	%D%/confine_replay.c \
	%D%/confine_replay.h \
	%D%/landlock.c \
	%D%/privileges.c \
	%D%/privileges.h \
	%D%/sandbox.c \
	%D%/sandbox.h \
	%D%/sandbox_rules.c
# Sanitizers and gcov make system calls of their own.
if INSTRUMENTED
libconfine_a_SOURCES += %D%/sandbox_instrumentation.c
else
libconfine_a_SOURCES += %D%/sandbox_instrumentation_stub.c
endif
