/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the numbers of DNS (IANA's registry of DNS parameters). */
#ifndef NETOBS_APPS_DNS_DNS_WORDS_H
#define NETOBS_APPS_DNS_DNS_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* "AAAA"; "TYPE65280" for a number without a word (RFC 3597). */
void dns_put_type(char *to, size_t size, uint16_t type);

/* "NXDOMAIN"; "RCODE12". */
void dns_put_rcode(char *to, size_t size, uint16_t rcode);

#endif
