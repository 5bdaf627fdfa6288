# SPDX-License-Identifier: BSD-2-Clause
# the metrics address: metrics, and the page that shows traffic in a browser

libdaemon_a_SOURCES += \
	%D%/http_host.c \
	%D%/http_host.h \
	%D%/live_page.c \
	%D%/live_page.h \
	%D%/metrics.c \
	%D%/metrics.h \
	%D%/metrics_page.c \
	%D%/service_metrics.c \
	%D%/service_metrics.h
