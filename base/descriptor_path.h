/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths that stand for an open descriptor: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N. */
#ifndef NETOBS_BASE_DESCRIPTOR_PATH_H
#define NETOBS_BASE_DESCRIPTOR_PATH_H

/* The descriptor, which need not be open; -1 for another path, and for NULL. */
int descriptor_of_path(const char *path);

#endif
