/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors that the process inherited. */
#ifndef NETOBS_CONFINE_DESCRIPTORS_H
#define NETOBS_CONFINE_DESCRIPTORS_H

#include "config/config.h"

/* Opens those of the descriptors 0 to 2 that are closed.  Call it before anything else is opened. */
void descriptors_occupy_standard(void);

/* Closes all descriptors above 2 except those that the configuration names as /dev/fd/N or /proc/self/fd/N.  Call it
 * before netobsd keeps a descriptor of its own. */
void descriptors_close_inherited(const struct config *config);

#endif
