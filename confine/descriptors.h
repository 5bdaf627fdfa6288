/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors that the process inherited. */
#ifndef NETOBS_CONFINE_DESCRIPTORS_H
#define NETOBS_CONFINE_DESCRIPTORS_H

#include "config/config.h"

/* Begins a program, before it opens anything: messages have its name, whatever the file is called, which is borrowed;
 * those of the descriptors 0 to 2 that are closed are opened; errors of write(2) are not signals; paths are checked if
 * it has privileges. */
void descriptors_begin_program(char *name);

/* Closes all descriptors above 2 except those that the configuration names as /dev/fd/N or /proc/self/fd/N.  Call it
 * before netobsd keeps a descriptor of its own. */
void descriptors_close_inherited(const struct config *config);

#endif
