/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of DNS messages (RFC 1035 sections 3.1 and 4.1.4). */
#ifndef NETOBS_APPS_DNS_DNS_NAME_H
#define NETOBS_APPS_DNS_DNS_NAME_H

#include <stdbool.h>

#include "apps/dns/dns_message.h"

/* Pointers that a name may have: one for each label of the longest name. */
#define DNS_POINTERS_MAX 127u

/*
 * Takes the name at the cursor and writes it to `text` (NULL: not), which has DNS_NAME_SIZE bytes: labels with dots
 * between them, in the case that they have, "." for the root, with the escapes of a master file (RFC 1035 section 5.1).
 * `message` is the whole message, for compression.  On failure returns false, the text is empty, and `*anomaly` is the
 * reason, ANOMALY_NONE if the name was cut off by the snapshot length.
 */
bool dns_take_name(struct cursor *c, struct slice message, char *text, enum anomaly *anomaly);

/* Whether two names are equal but for the case of ASCII letters (RFC 4343). */
bool dns_name_equal(const char *a, const char *b);

#endif
