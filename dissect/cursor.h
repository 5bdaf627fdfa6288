/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only code that reads packet memory.
 *
 * A cursor is the rest of a frame as one layer sees it: where it is, how many bytes the capture holds and how many
 * were on the wire.  Taking more than the capture holds is an error that sticks: CURSOR_TRUNCATED if the bytes were
 * on the wire (snapshot length), CURSOR_SHORT if they never were (malformed).  After an error every take fails and
 * every getter gives 0.
 *
 * A view is a run of bytes that has been checked; its getters check again, which costs nothing where the length is a
 * constant.  Multi-byte getters read network byte order and return host order.
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
	uint32_t have;	   /* captured bytes from `at` on */
	uint32_t wire;	   /* wire bytes from `at` on, never fewer than `have` */
	enum cursor_error error;
};

struct view {
	const uint8_t *at; /* NULL when len is 0 */
	uint32_t len;	   /* bytes that may be read */
};

/* A cursor over `have` captured of `wire` bytes.  A record that claims to hold more than was on the wire is believed
 * about what it holds. */
static inline struct cursor
cursor_over(const uint8_t *at, uint32_t have, uint32_t wire)
{
	return (struct cursor){.at = at, .have = have, .wire = wire < have ? have : wire, .error = CURSOR_OK};
}

/* Takes `n` bytes.  On failure the cursor keeps its place and remembers why; `*taken` is empty. */
static inline bool
cursor_take(struct cursor *c, uint32_t n, struct view *taken)
{
	if (__builtin_expect(c->error != CURSOR_OK || n > c->have, 0)) {
		if (c->error == CURSOR_OK)
			c->error = n > c->wire ? CURSOR_SHORT : CURSOR_TRUNCATED;
		*taken = (struct view){NULL, 0};
		return false;
	}
	*taken = (struct view){c->at, n};
	c->at += n;
	c->have -= n;
	c->wire -= n;
	return true;
}

/* Looks at the next `n` bytes without moving.  Fails quietly: the cursor remembers nothing. */
static inline bool
cursor_peek(const struct cursor *c, uint32_t n, struct view *seen)
{
	bool fits = c->error == CURSOR_OK && n <= c->have;

	*seen = fits ? (struct view){c->at, n} : (struct view){NULL, 0};
	return fits;
}

/* Moves past `n` wire bytes. */
static inline bool
cursor_skip(struct cursor *c, uint32_t n)
{
	struct view skipped;

	return cursor_take(c, n, &skipped);
}

/* Takes `n` wire bytes of which the capture may hold only the first part: the view is that part.  Fails like
 * cursor_take where they were never on the wire. */
static inline bool
cursor_take_partly(struct cursor *c, uint32_t n, struct view *taken)
{
	uint32_t held = n < c->have ? n : c->have;

	if (n > c->wire)
		return cursor_take(c, n, taken);
	if (!cursor_take(c, held, taken))
		return false;
	c->wire -= n - held;
	return true;
}

/* Narrows the cursor to the next `n` wire bytes, as a length field says; what follows is padding.  A length larger
 * than what is left changes nothing. */
static inline void
cursor_limit(struct cursor *c, uint32_t n)
{
	if (n < c->wire)
		c->wire = n;
	if (c->have > c->wire)
		c->have = c->wire;
}

/* Everything the capture still holds, as a view; the cursor does not move. */
static inline struct view
cursor_rest(const struct cursor *c)
{
	return c->error == CURSOR_OK && c->have > 0 ? (struct view){c->at, c->have} : (struct view){NULL, 0};
}

/* What a cursor went over between two of its states. */
static inline struct view
cursor_between(const struct cursor *before, const struct cursor *after)
{
	uint32_t n = before->have - after->have;

	return after->have < before->have ? (struct view){before->at, n} : (struct view){NULL, 0};
}

static inline bool
view_has(struct view v, uint32_t offset, uint32_t n)
{
	return offset <= v.len && n <= v.len - offset;
}

static inline uint8_t
view_u8(struct view v, uint32_t offset)
{
	return view_has(v, offset, 1) ? v.at[offset] : 0;
}

static inline uint16_t
view_u16(struct view v, uint32_t offset)
{
	uint16_t raw;

	if (!view_has(v, offset, sizeof raw))
		return 0;
	memcpy(&raw, v.at + offset, sizeof raw);
	return be16toh(raw);
}

/* As it lies in memory, for sums that do not ask for the order (RFC 1071 section 2). */
static inline uint32_t
view_raw32(struct view v, uint32_t offset)
{
	uint32_t raw;

	if (!view_has(v, offset, sizeof raw))
		return 0;
	memcpy(&raw, v.at + offset, sizeof raw);
	return raw;
}

static inline uint32_t
view_u32(struct view v, uint32_t offset)
{
	return be32toh(view_raw32(v, offset));
}

/* Where `n` bytes begin that the view holds; NULL if it does not. */
static inline const uint8_t *
view_bytes(struct view v, uint32_t offset, uint32_t n)
{
	return view_has(v, offset, n) ? v.at + offset : NULL;
}

static inline uint64_t
view_u64(struct view v, uint32_t offset)
{
	return (uint64_t)view_u32(v, offset) << 32 | view_u32(v, offset + 4);
}

/* Copies `n` bytes as they are on the wire; zeros where the view does not reach. */
static inline void
view_copy(struct view v, uint32_t offset, void *to, uint32_t n)
{
	if (n == 0)
		return; /* an empty view points nowhere, which memcpy() does not take */
	if (view_has(v, offset, n))
		memcpy(to, v.at + offset, n);
	else
		memset(to, 0, n);
}

/* Whether the view holds these very `n` bytes from `offset` on. */
static inline bool
view_same(struct view v, uint32_t offset, const void *bytes, uint32_t n)
{
	return view_has(v, offset, n) && memcmp(v.at + offset, bytes, n) == 0;
}

/* The one's complement sum of a view's 16-bit words, folded (RFC 1071); an odd last byte is padded with zero.
 * Summing in the machine's order and swapping the folded result is the same as summing in network order. */
static inline uint16_t
view_sum(struct view v)
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
static inline struct view
view_part(struct view v, uint32_t offset, uint32_t n)
{
	if (offset >= v.len)
		return (struct view){NULL, 0};
	return (struct view){v.at + offset, n < v.len - offset ? n : v.len - offset};
}

#endif
