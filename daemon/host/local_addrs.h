/* SPDX-License-Identifier: BSD-2-Clause */
/* Which addresses are local: those of the observed network namespace, as they come and go, and configured prefixes. */
#ifndef NETOBS_DAEMON_HOST_LOCAL_ADDRS_H
#define NETOBS_DAEMON_HOST_LOCAL_ADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/config/config.h"

struct locals;

/* An empty set with the prefixes of the configuration.  NULL if memory cannot be had. */
struct locals *locals_new(const struct prefix *prefixes, size_t count);
void locals_free(struct locals *locals);

/* Other prefixes in place of these.  False, with nothing changed, if memory cannot be had. */
bool locals_set_prefixes(struct locals *locals, const struct prefix *prefixes, size_t count);

/* An address has come or gone.  `addr` is in network order, IPv4 in the first four bytes.  Counted: the same address
 * on two interfaces stays until both have lost it.  False if memory cannot be had. */
bool locals_add(struct locals *locals, uint8_t version, const uint8_t addr[16]);
void locals_remove(struct locals *locals, uint8_t version, const uint8_t addr[16]);
void locals_clear_addresses(struct locals *locals);

/* Whether an address is local.  127.0.0.0/8 and ::1 always are. */
bool locals_has(const struct locals *locals, uint8_t version, const uint8_t addr[16]);

/* Whether anything is known of what is local: an address or a prefix.  A cooked capture file without prefixes tells
 * only directions. */
bool locals_known(const struct locals *locals);

/* Rises with every change, so that answers may be remembered. */
uint32_t locals_generation(const struct locals *locals);

#endif
