/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of local addresses: those of the observed network namespace, kept up to date, and the configured prefixes. */
#ifndef NETOBS_DAEMON_HOST_LOCAL_ADDRS_H
#define NETOBS_DAEMON_HOST_LOCAL_ADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/config/config.h"

struct locals;

/* Creates a set with the configured prefixes.  NULL if out of memory. */
struct locals *locals_new(const struct prefix *prefixes, size_t count);
void locals_free(struct locals *locals);

/* Replaces the prefixes.  False, with nothing changed, if out of memory. */
bool locals_set_prefixes(struct locals *locals, const struct prefix *prefixes, size_t count);

/* Adds or removes an address.  `addr` is in network order, IPv4 in the first four bytes.  Addresses are counted: one
 * that is on two interfaces stays until both have lost it.  False if out of memory. */
bool locals_add(struct locals *locals, uint8_t version, const uint8_t addr[16]);
void locals_remove(struct locals *locals, uint8_t version, const uint8_t addr[16]);
void locals_clear_addresses(struct locals *locals);

/* Whether an address is local.  127.0.0.0/8 and ::1 always are. */
bool locals_has(const struct locals *locals, uint8_t version, const uint8_t addr[16]);

/* Whether any local address or prefix is known.  For a cooked capture file without prefixes only directions are
 * known. */
bool locals_known(const struct locals *locals);

/* Increases with every change; used to validate cached results. */
uint32_t locals_generation(const struct locals *locals);

#endif
