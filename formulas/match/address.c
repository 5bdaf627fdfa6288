/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/match/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* Digits of the prefix length that are read. */
#define BITS_DIGITS_MAX 3u

size_t
address_parse(const char *text, struct address *address)
{
	char copy[INET6_ADDRSTRLEN];
	size_t length = strspn(text, "0123456789abcdefABCDEF:."), digits;

	if (length == 0 || length >= sizeof copy)
		return 0;
	memcpy(copy, text, length);
	copy[length] = '\0';
	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, copy, address->bytes) == 1)
		address->version = 4;
	else if (inet_pton(AF_INET6, copy, address->bytes) == 1)
		address->version = 6;
	else
		return 0;
	address->bits = address->version == 4 ? 32 : 128;
	if (text[length] != '/')
		return length;
	digits = strspn(text + length + 1, "0123456789");
	if (digits == 0)
		return length;
	address->bits = 0;
	for (size_t i = 0; i < digits && i <= BITS_DIGITS_MAX; i++)
		address->bits = 10 * address->bits + (unsigned)(text[length + 1 + i] - '0');
	return length + 1 + digits;
}

bool
address_mask(struct address *address)
{
	bool any = false;

	for (unsigned i = 0; i < 16; i++) {
		unsigned kept = address->bits <= 8 * i ? 0 : address->bits - 8 * i;
		uint8_t mask = (uint8_t)(kept >= 8 ? 0xffu : 0xff00u >> kept);

		any = any || (address->bytes[i] & (uint8_t)~mask) != 0;
		address->bytes[i] &= mask;
	}
	return any;
}

const char *
address_spell(const struct address *address, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN];

	inet_ntop(address->version == 4 ? AF_INET : AF_INET6, address->bytes, host, sizeof host);
	snprintf(text, size, "%s/%u", host, address->bits);
	return text;
}

static void
address_prepare_ipv4(struct address_prefix *prefix, const struct address *address)
{
	unsigned whole = address->bits / 8, rest = address->bits % 8;
	int length = 0;

	for (unsigned i = 0; i < whole; i++)
		length += snprintf(prefix->text + length, sizeof prefix->text - (size_t)length, "%u%s",
				   address->bytes[i], i < 3 ? "." : "");
	prefix->text_length = (uint8_t)(length + (whole == 4)); /* a whole address: the NUL as well */
	prefix->has_octet = whole == 0 || rest > 0;
	prefix->is_last = whole == 3;
	if (prefix->has_octet) {
		prefix->low = address->bytes[whole];
		prefix->high = (uint8_t)(prefix->low + (0xff >> rest));
	}
}

void
address_prepare(struct address_prefix *prefix, const struct address *address)
{
	*prefix = (struct address_prefix){.version = (uint8_t)address->version};
	if (address->version == 4) {
		address_prepare_ipv4(prefix, address);
		return;
	}
	prefix->group_count = (uint8_t)((address->bits + 15) / 16);
	for (unsigned i = 0; i < prefix->group_count; i++) {
		unsigned kept = address->bits - 16 * i;

		prefix->groups[i] = (uint16_t)(address->bytes[2 * i] << 8 | address->bytes[2 * i + 1]);
		prefix->masks[i] = (uint16_t)(kept >= 16 ? 0xffffu : 0xffff0000u >> kept);
	}
}

/* Reads an octet in decimal; returns what follows, NULL if there is none. */
static const char *
address_read_octet(const char *text, unsigned *octet)
{
	unsigned digits = 0;

	for (*octet = 0; digits < 3 && text[digits] >= '0' && text[digits] <= '9'; digits++)
		*octet = 10 * *octet + (unsigned)(text[digits] - '0');
	return digits == 0 || *octet > 255 ? NULL : text + digits;
}

static bool
address_match_ipv4(const struct address_prefix *prefix, const char *text)
{
	unsigned octet;
	const char *end;

	if (memcmp(text, prefix->text, prefix->text_length) != 0)
		return false;
	if (!prefix->has_octet)
		return true;
	end = address_read_octet(text + prefix->text_length, &octet);
	return end != NULL && *end == (prefix->is_last ? '\0' : '.') && octet >= prefix->low && octet <= prefix->high;
}

/* The last two groups of an IPv6 address in dotted decimal. */
static bool
address_read_dotted(const char *text, uint16_t groups[2])
{
	unsigned octets[4];

	for (unsigned i = 0; i < 4; i++) {
		text = address_read_octet(text, &octets[i]);
		if (text == NULL || *text != (i < 3 ? '.' : '\0'))
			return false;
		text++;
	}
	groups[0] = (uint16_t)(octets[0] << 8 | octets[1]);
	groups[1] = (uint16_t)(octets[2] << 8 | octets[3]);
	return true;
}

/* Reads one group in hexadecimal; returns what follows, NULL if there is none. */
static const char *
address_read_group(const char *text, uint16_t *group)
{
	unsigned value = 0, digits;

	for (digits = 0; digits < 4; digits++) {
		char c = text[digits];

		if (c >= '0' && c <= '9')
			value = value << 4 | (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (unsigned)(c - 'a' + 10);
		else
			break;
	}
	*group = (uint16_t)value;
	return digits == 0 ? NULL : text + digits;
}

/* The groups that "::" stands for, 0 if there is no room for any. */
static unsigned
address_count_zeros(const char *after, unsigned before)
{
	unsigned groups = *after != '\0';

	for (; *after != '\0'; after++)
		groups += *after == ':' || (*after == '.' && strchr(after + 1, '.') == NULL);
	return before + groups < 8 ? 8 - before - groups : 0;
}

static inline bool
address_group_differs(const struct address_prefix *prefix, unsigned i, uint16_t group)
{
	return i < prefix->group_count && ((group ^ prefix->groups[i]) & prefix->masks[i]) != 0;
}

/* Compares group by group and stops as soon as the prefix is covered. */
static bool
address_match_ipv6(const struct address_prefix *prefix, const char *text)
{
	unsigned i = 0;
	bool compressed = false;

	if (strchr(text, ':') == NULL)
		return false;
	if (text[0] == ':') /* "::" at the beginning */
		text++;
	while (i < prefix->group_count) {
		uint16_t group[2];
		const char *end;

		if (*text == ':') {
			unsigned zeros = compressed ? 0 : address_count_zeros(text + 1, i);

			if (zeros == 0)
				return false;
			compressed = true;
			for (; zeros > 0; zeros--, i++)
				if (address_group_differs(prefix, i, 0))
					return false;
			text++;
			continue;
		}
		end = address_read_group(text, &group[0]);
		if (end == NULL)
			return false;
		if (*end == '.')
			return i == 6 && address_read_dotted(text, group) &&
			       !address_group_differs(prefix, 6, group[0]) &&
			       !address_group_differs(prefix, 7, group[1]);
		if (address_group_differs(prefix, i++, group[0]))
			return false;
		if (*end != ':')
			return *end == '\0' && i >= prefix->group_count;
		text = end + 1;
	}
	return true;
}

bool
address_match(const struct address_prefix *prefix, const char *text)
{
	return prefix->version == 4 ? address_match_ipv4(prefix, text) : address_match_ipv6(prefix, text);
}
