/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of local addresses: those of the observed network namespace, kept up to date, and the configured prefixes. */
#ifndef NETOBS_HOST_LOCAL_ADDRS_H
#define NETOBS_HOST_LOCAL_ADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

struct local_addrs;

/* Creates a set with the configured prefixes.  NULL if out of memory. */
struct local_addrs *local_addrs_new(const struct ip_prefix *prefixes, size_t count);
void local_addrs_free(struct local_addrs *local_addrs);

/* Replaces the prefixes.  False, with nothing changed, if out of memory. */
bool local_addrs_set_prefixes(struct local_addrs *local_addrs, const struct ip_prefix *prefixes, size_t count);

/* Adds or removes an address.  `addr` is in network order, IPv4 in the first four bytes.  Addresses are counted: one
 * that is on two interfaces stays until both have lost it.  False if out of memory. */
bool local_addrs_add(struct local_addrs *local_addrs, uint8_t version, const uint8_t addr[16]);
void local_addrs_remove(struct local_addrs *local_addrs, uint8_t version, const uint8_t addr[16]);

/* Whether an address is local.  127.0.0.0/8 and ::1 always are. */
bool local_addrs_contains(const struct local_addrs *local_addrs, uint8_t version, const uint8_t addr[16]);

/* Whether addresses were looked up since the prefixes were set, and no address was in the prefix with this index. */
bool local_addrs_prefix_is_unmatched(const struct local_addrs *local_addrs, size_t index);

/* Whether any local address or prefix is known.  For a cooked capture file without prefixes only directions are
 * known. */
bool local_addrs_any_known(const struct local_addrs *local_addrs);

/* Increases with every change; used to validate cached results. */
uint32_t local_addrs_epoch(const struct local_addrs *local_addrs);

#endif
