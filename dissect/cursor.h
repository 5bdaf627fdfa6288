/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded access to packet memory; no other code reads it.
 *
 * A cursor is the part of a frame that one layer has not consumed: its position, the bytes captured and the bytes on
 * the wire.  Taking more than was captured sets a sticky error: CURSOR_TRUNCATED if the bytes were on the wire
 * (snapshot length), CURSOR_SHORT if they were not (malformed).  After an error every take fails and every getter
 * returns 0.
 *
 * A slice is a pointer to bytes whose bounds have been checked, and their number.  Its getters check again, which costs
 * nothing if the length is a constant.
 *
 * Multi-byte getters read network byte order and return host order.
 */
#ifndef NETOBS_DISSECT_CURSOR_H
#define NETOBS_DISSECT_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum cursor_error {
	CURSOR_OK,
	CURSOR_TRUNCATED, /* on the wire, but not in the capture */
	CURSOR_SHORT,	  /* not on the wire either */
};

struct cursor {
	const uint8_t *at; /* next byte; memory belongs to the frame */
	uint32_t captured; /* captured bytes from `at` on */
	uint32_t wire;	   /* wire bytes from `at` on, never fewer than `captured` */
	enum cursor_error error;
};

struct slice {
	const uint8_t *at; /* NULL when len is 0 */
	uint32_t len;	   /* bytes that may be read */
};

/* A cursor over `captured` of `wire` bytes.  If `captured` exceeds `wire`, `wire` is raised to it. */
static inline struct cursor
cursor_init(const uint8_t *at, uint32_t captured, uint32_t wire)
{
	return (struct cursor){
	    .at = at, .captured = captured, .wire = wire < captured ? captured : wire, .error = CURSOR_OK};
}

/* Takes `n` bytes.  On failure the cursor stays where it is and records the error; `*taken` is empty. */
static inline bool
cursor_take(struct cursor *c, uint32_t n, struct slice *taken)
{
	if (__builtin_expect(c->error != CURSOR_OK || n > c->captured, 0)) {
		if (c->error == CURSOR_OK)
			c->error = n > c->wire ? CURSOR_SHORT : CURSOR_TRUNCATED;
		*taken = (struct slice){NULL, 0};
		return false;
	}
	*taken = (struct slice){c->at, n};
	c->at += n;
	c->captured -= n;
	c->wire -= n;
	return true;
}

/* Returns the next `n` bytes without advancing.  A failure does not set the cursor's error. */
static inline bool
cursor_peek(const struct cursor *c, uint32_t n, struct slice *peeked)
{
	bool fits = c->error == CURSOR_OK && n <= c->captured;

	*peeked = fits ? (struct slice){c->at, n} : (struct slice){NULL, 0};
	return fits;
}

/* Moves past `n` wire bytes. */
static inline bool
cursor_skip(struct cursor *c, uint32_t n)
{
	struct slice skipped;

	return cursor_take(c, n, &skipped);
}

/* Takes `n` wire bytes, of which the capture may hold only the first part; `*taken` is that part.  Fails like
 * cursor_take() if the bytes were never on the wire. */
static inline bool
cursor_take_captured(struct cursor *c, uint32_t n, struct slice *taken)
{
	uint32_t captured = n < c->captured ? n : c->captured;

	if (n > c->wire)
		return cursor_take(c, n, taken);
	if (!cursor_take(c, captured, taken))
		return false;
	c->wire -= n - captured;
	return true;
}

/* Limits the cursor to the next `n` wire bytes, as a length field demands; the rest is padding.  No effect if `n`
 * exceeds what is left. */
static inline void
cursor_limit(struct cursor *c, uint32_t n)
{
	if (n < c->wire)
		c->wire = n;
	if (c->captured > c->wire)
		c->captured = c->wire;
}

/* Whether all that is left was captured, and ends at `end`. */
static inline bool
cursor_is_whole_until(const struct cursor *c, const uint8_t *end)
{
	return c->captured == c->wire && c->at + c->captured == end;
}

/* The captured bytes that are left.  The cursor does not advance. */
static inline struct slice
cursor_captured_slice(const struct cursor *c)
{
	return c->error == CURSOR_OK && c->captured > 0 ? (struct slice){c->at, c->captured} : (struct slice){NULL, 0};
}

/* A cursor over a slice from `offset` on, which is within it; on the wire the slice has `wire` bytes. */
static inline struct cursor
cursor_at(struct slice s, uint32_t offset, uint32_t wire)
{
	return cursor_init(s.at + offset, s.len - offset, wire - offset);
}

/* The bytes between two positions of a cursor. */
static inline struct slice
cursor_slice_between(const struct cursor *before, const struct cursor *after)
{
	uint32_t n = before->captured - after->captured;

	return after->captured < before->captured ? (struct slice){before->at, n} : (struct slice){NULL, 0};
}

static inline bool
slice_has(struct slice s, uint32_t offset, uint32_t n)
{
	return offset <= s.len && n <= s.len - offset;
}

static inline uint8_t
slice_u8(struct slice s, uint32_t offset)
{
	return slice_has(s, offset, 1) ? s.at[offset] : 0;
}

static inline uint16_t
slice_u16(struct slice s, uint32_t offset)
{
	uint16_t raw;

	if (!slice_has(s, offset, sizeof raw))
		return 0;
	memcpy(&raw, s.at + offset, sizeof raw);
	return be16toh(raw);
}

/* In memory order, for sums that do not depend on byte order (RFC 1071 section 2). */
static inline uint32_t
slice_raw32(struct slice s, uint32_t offset)
{
	uint32_t raw;

	if (!slice_has(s, offset, sizeof raw))
		return 0;
	memcpy(&raw, s.at + offset, sizeof raw);
	return raw;
}

static inline uint32_t
slice_u32(struct slice s, uint32_t offset)
{
	return be32toh(slice_raw32(s, offset));
}

static inline uint64_t
slice_u64(struct slice s, uint32_t offset)
{
	return (uint64_t)slice_u32(s, offset) << 32 | slice_u32(s, offset + 4);
}

/* Eight bytes for a hash, in the same order on every machine; 0 if the slice does not contain all of them. */
static inline uint64_t
slice_word(struct slice s, uint32_t offset)
{
	uint64_t raw;

	if (!slice_has(s, offset, sizeof raw))
		return 0;
	memcpy(&raw, s.at + offset, sizeof raw);
	return le64toh(raw);
}

/* A hash of the first `n` bytes, at least 8: a sum over words, so that the processor computes them side by side. */
static inline uint64_t
slice_hash(struct slice s, uint32_t n)
{
	uint64_t sum = 0, word, number = n;
	uint32_t at = 0;

	if (!slice_has(s, 0, n) || n < sizeof word)
		return 0;
	for (;;) {
		memcpy(&word, s.at + at, sizeof word);
		word = (le64toh(word) ^ number) * 0x9e3779b97f4a7c15u;
		sum += word ^ word >> 32;
		if (at == n - sizeof word)
			return sum;
		number += 0xd6e8feb86659fd93u;
		at += (uint32_t)sizeof word;
		if (at > n - sizeof word)
			at = n - (uint32_t)sizeof word;
	}
}

/* Copies `n` bytes in wire order; bytes beyond the end of the slice are 0. */
static inline void
slice_copy(struct slice s, uint32_t offset, void *to, uint32_t n)
{
	if (n == 0)
		return; /* an empty slice has a null pointer, which memcpy() does not accept */
	if (slice_has(s, offset, n))
		memcpy(to, s.at + offset, n);
	else
		memset(to, 0, n);
}

/* Whether the slice contains exactly these `n` bytes at `offset`. */
static inline bool
slice_equal(struct slice s, uint32_t offset, const void *bytes, uint32_t n)
{
	return slice_has(s, offset, n) && memcmp(s.at + offset, bytes, n) == 0;
}

/* The one's complement sum of a slice's 16-bit words, folded (RFC 1071); an odd last byte is padded with zero.
 * Summing in the machine's order and swapping the folded result is the same as summing in network order. */
static inline uint16_t
slice_checksum(struct slice s)
{
	uint64_t sum = 0;
	uint32_t i = 0, word;
	uint16_t half;

	for (; s.len - i >= sizeof word; i += (uint32_t)sizeof word) {
		memcpy(&word, s.at + i, sizeof word);
		sum += word;
	}
	if (s.len - i >= sizeof half) {
		memcpy(&half, s.at + i, sizeof half);
		sum += half;
		i += (uint32_t)sizeof half;
	}
	if (s.len - i > 0) {
		half = 0;
		memcpy(&half, s.at + i, 1);
		sum += half;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return be16toh((uint16_t)sum);
}

/* The part of a slice from `offset` on, at most `n` bytes. */
static inline struct slice
slice_sub(struct slice s, uint32_t offset, uint32_t n)
{
	if (offset >= s.len)
		return (struct slice){NULL, 0};
	return (struct slice){s.at + offset, n < s.len - offset ? n : s.len - offset};
}

#endif
