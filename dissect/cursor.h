/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded access to packet memory; no other code reads it.
 *
 * A cursor is the part of a frame that one layer has not consumed: its position, the bytes captured and the bytes on
 * the wire.  Taking more than was captured sets a sticky error: CURSOR_TRUNCATED if the bytes were on the wire
 * (snapshot length), CURSOR_SHORT if they were not (malformed).  After an error every take fails and every getter
 * returns 0.
 *
 * A view is a run of bytes whose bounds have been checked.  Its getters check again, which costs nothing where the
 * length is a constant.
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
	uint32_t wire;	   /* wire bytes from `at` on, never fewer than `have` */
	enum cursor_error error;
};

struct slice {
	const uint8_t *at; /* NULL when len is 0 */
	uint32_t len;	   /* bytes that may be read */
};

/* A cursor over `have` captured bytes of `wire`.  If `have` exceeds `wire`, `wire` is raised to `have`. */
static inline struct cursor
cursor_init(const uint8_t *at, uint32_t have, uint32_t wire)
{
	return (struct cursor){.at = at, .captured = have, .wire = wire < have ? have : wire, .error = CURSOR_OK};
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
cursor_peek(const struct cursor *c, uint32_t n, struct slice *seen)
{
	bool fits = c->error == CURSOR_OK && n <= c->captured;

	*seen = fits ? (struct slice){c->at, n} : (struct slice){NULL, 0};
	return fits;
}

/* Moves past `n` wire bytes. */
static inline bool
cursor_skip(struct cursor *c, uint32_t n)
{
	struct slice skipped;

	return cursor_take(c, n, &skipped);
}

/* Takes `n` wire bytes, of which the capture may hold only the first part; the view is that part.  Fails like
 * cursor_take() if the bytes were never on the wire. */
static inline bool
cursor_take_captured(struct cursor *c, uint32_t n, struct slice *taken)
{
	uint32_t held = n < c->captured ? n : c->captured;

	if (n > c->wire)
		return cursor_take(c, n, taken);
	if (!cursor_take(c, held, taken))
		return false;
	c->wire -= n - held;
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

/* The captured bytes that are left, as a view.  The cursor does not advance. */
static inline struct slice
cursor_captured_slice(const struct cursor *c)
{
	return c->error == CURSOR_OK && c->captured > 0 ? (struct slice){c->at, c->captured} : (struct slice){NULL, 0};
}

/* The bytes between two positions of a cursor. */
static inline struct slice
cursor_slice_between(const struct cursor *before, const struct cursor *after)
{
	uint32_t n = before->captured - after->captured;

	return after->captured < before->captured ? (struct slice){before->at, n} : (struct slice){NULL, 0};
}

static inline bool
slice_has(struct slice v, uint32_t offset, uint32_t n)
{
	return offset <= v.len && n <= v.len - offset;
}

static inline uint8_t
slice_u8(struct slice v, uint32_t offset)
{
	return slice_has(v, offset, 1) ? v.at[offset] : 0;
}

static inline uint16_t
slice_u16(struct slice v, uint32_t offset)
{
	uint16_t raw;

	if (!slice_has(v, offset, sizeof raw))
		return 0;
	memcpy(&raw, v.at + offset, sizeof raw);
	return be16toh(raw);
}

/* In memory order, for sums that do not depend on byte order (RFC 1071 section 2). */
static inline uint32_t
slice_raw32(struct slice v, uint32_t offset)
{
	uint32_t raw;

	if (!slice_has(v, offset, sizeof raw))
		return 0;
	memcpy(&raw, v.at + offset, sizeof raw);
	return raw;
}

static inline uint32_t
slice_u32(struct slice v, uint32_t offset)
{
	return be32toh(slice_raw32(v, offset));
}

/* Address of the `n` bytes at an offset of the view, NULL if the view does not contain all of them. */
static inline const uint8_t *
slice_bytes(struct slice v, uint32_t offset, uint32_t n)
{
	return slice_has(v, offset, n) ? v.at + offset : NULL;
}

static inline uint64_t
slice_u64(struct slice v, uint32_t offset)
{
	return (uint64_t)slice_u32(v, offset) << 32 | slice_u32(v, offset + 4);
}

/* Copies `n` bytes in wire order; bytes beyond the end of the view are 0. */
static inline void
slice_copy(struct slice v, uint32_t offset, void *to, uint32_t n)
{
	if (n == 0)
		return; /* an empty view has a null pointer, which memcpy() does not accept */
	if (slice_has(v, offset, n))
		memcpy(to, v.at + offset, n);
	else
		memset(to, 0, n);
}

/* Whether the view contains exactly these `n` bytes at `offset`. */
static inline bool
slice_equal(struct slice v, uint32_t offset, const void *bytes, uint32_t n)
{
	return slice_has(v, offset, n) && memcmp(v.at + offset, bytes, n) == 0;
}

/* The one's complement sum of a view's 16-bit words, folded (RFC 1071); an odd last byte is padded with zero.
 * Summing in the machine's order and swapping the folded result is the same as summing in network order. */
static inline uint16_t
slice_checksum(struct slice v)
{
	uint64_t sum = 0;
	uint32_t i = 0, word;
	uint16_t half;

	for (; v.len - i >= sizeof word; i += (uint32_t)sizeof word) {
		memcpy(&word, v.at + i, sizeof word);
		sum += word;
	}
	if (v.len - i >= sizeof half) {
		memcpy(&half, v.at + i, sizeof half);
		sum += half;
		i += (uint32_t)sizeof half;
	}
	if (v.len - i > 0) {
		half = 0;
		memcpy(&half, v.at + i, 1);
		sum += half;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return be16toh((uint16_t)sum);
}

/* The part of a view from `offset` on, at most `n` bytes. */
static inline struct slice
slice_sub(struct slice v, uint32_t offset, uint32_t n)
{
	if (offset >= v.len)
		return (struct slice){NULL, 0};
	return (struct slice){v.at + offset, n < v.len - offset ? n : v.len - offset};
}

#endif
