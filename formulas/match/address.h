/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses and prefixes in definitions, and the test whether an address in text is in a prefix. */
#ifndef NETOBS_FORMULAS_MATCH_ADDRESS_H
#define NETOBS_FORMULAS_MATCH_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address {
	unsigned version; /* 4 or 6 */
	unsigned bits;	  /* of the prefix; 32 or 128: one address */
	uint8_t bytes[16];
};

/* A prefix, prepared for comparison with text. */
struct address_prefix {
	uint8_t version;
	uint8_t text_length; /* IPv4: whole octets as text, with the dot after each, or the NUL after all four */
	char text[16];
	bool has_octet; /* IPv4: the next octet is compared as a number */
	bool is_last;	/* IPv4: that is the fourth octet */
	uint8_t low, high;
	uint8_t group_count; /* IPv6: groups that the prefix covers, the last one perhaps in part */
	uint16_t groups[8], masks[8];
};

/* Reads an address, perhaps with "/BITS"; returns the bytes read, 0 if there is none.  `bits` may be too large. */
size_t address_parse(const char *text, struct address *address);

/* Clears the bits after the prefix; returns whether one of them was set. */
bool address_mask(struct address *address);

/* "10.0.0.0/8" */
const char *address_spell(const struct address *address, char *text, size_t size);

void address_prepare(struct address_prefix *prefix, const struct address *address);

/* Whether an address as the fields have it, in the spelling of inet_ntop(), is in the prefix.  `text` ends with a NUL
 * and has at least 16 bytes. */
bool address_match(const struct address_prefix *prefix, const char *text);

#endif
