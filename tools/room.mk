# SPDX-License-Identifier: BSD-2-Clause
# Programs beside the daemon.  Of its code they use the search for the nearest word.

sbin_PROGRAMS += netobsctl
netobsctl_SOURCES = %D%/netobsctl.c
netobsctl_LDADD = libprobes.a
