# SPDX-License-Identifier: BSD-2-Clause
# where frames, connections and probes meet

libobserve_a_SOURCES += \
	%D%/app_layer.c \
	%D%/app_layer.h \
	%D%/batch_times.c \
	%D%/batch_times.h \
	%D%/frame_listener.h \
	%D%/observe_counters.h \
	%D%/observe_internal.h \
	%D%/observe_packet.c \
	%D%/observer.c \
	%D%/observer.h \
	%D%/observer_clock.c \
	%D%/observer_sink.c \
	%D%/observer_sink.h \
	%D%/pipeline.c \
	%D%/ring_listener.c \
	%D%/ring_listener.h \
	%D%/second_pass.c \
	%D%/second_pass.h \
	%D%/workers.c \
	%D%/workers.h
