# SPDX-License-Identifier: BSD-2-Clause
# Programs beside the daemon; they share no code with it.

sbin_PROGRAMS += netobsctl
netobsctl_SOURCES = %D%/netobsctl.c
netobsctl_LDADD =
