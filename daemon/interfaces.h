/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interfaces of this namespace by index, so that a frame captured on "any", whose cooked header has the
 * index, is reported with the interface it really went through. */
#ifndef NETOBS_DAEMON_INTERFACES_H
#define NETOBS_DAEMON_INTERFACES_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/frame.h"

struct interfaces;

/* An empty collection.  NULL if memory cannot be had. */
struct interfaces *interfaces_new(void);
void interfaces_free(struct interfaces *interfaces);

/* An interface is there, or has another name now.  False if memory cannot be had. */
bool interfaces_learn(struct interfaces *interfaces, uint32_t index, const char *name, bool loopback);

/* It is gone.  No frame of it may be waiting in a batch. */
void interfaces_forget(struct interfaces *interfaces, uint32_t index);

/* NULL if it is not known.  The answer lives until the interface is forgotten; a rename changes it in place. */
const struct interface *interfaces_find(const struct interfaces *interfaces, uint32_t index);

/* Inode of the network namespace that this process is in, 0 if it cannot be told. */
uint64_t interfaces_namespace(void);

#endif
