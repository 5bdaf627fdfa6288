/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/cost/cost_frames.h"

#include <string.h>

enum { FLOWS = 4096, MSS = 1448 };
enum { FLAG_FIN = 1, FLAG_SYN = 2, FLAG_RST = 4, FLAG_PUSH = 8, FLAG_ACK = 16 };

static const uint16_t ports[8] = {3260, 3260, 3260, 80, 53, 4789, 443, 9899};
static const uint16_t lengths[8] = {0, 1, 48, 100, 512, 1000, 1400, MSS};

/* A sequence that is being made. */
struct cost_maker {
	struct cost_frame *frames;
	unsigned count, limit;
	uint32_t next[FLOWS][2]; /* sequence numbers that client and server send next */
	uint32_t noise;
};

/* One frame that is being made. */
struct cost_builder {
	struct cost_maker *maker;
	const struct cost_op *op;
	uint8_t *bytes;
	unsigned len;
	unsigned flow, from, index; /* `index`: number of the frame in its operation */
	bool ipv6;
};

static void
builder_put(struct cost_builder *b, const void *bytes, unsigned len)
{
	if (b->len + len > COST_FRAME_LEN_MAX)
		len = COST_FRAME_LEN_MAX - b->len;
	memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
}

static void
builder_fill(struct cost_builder *b, uint8_t value, unsigned len)
{
	if (b->len + len > COST_FRAME_LEN_MAX)
		len = COST_FRAME_LEN_MAX - b->len;
	memset(b->bytes + b->len, value, len);
	b->len += len;
}

static void
builder_put8(struct cost_builder *b, unsigned value)
{
	if (b->len < COST_FRAME_LEN_MAX)
		b->bytes[b->len++] = (uint8_t)value;
}

static void
builder_put16(struct cost_builder *b, uint32_t value)
{
	builder_put8(b, value >> 8 & 0xff);
	builder_put8(b, value & 0xff);
}

static void
builder_put32(struct cost_builder *b, uint32_t value)
{
	builder_put16(b, value >> 16);
	builder_put16(b, value & 0xffff);
}

static void
builder_set16(const struct cost_builder *b, unsigned at, uint32_t value)
{
	if (at + 2 > COST_FRAME_LEN_MAX)
		return;
	b->bytes[at] = (uint8_t)(value >> 8);
	b->bytes[at + 1] = (uint8_t)value;
}

/* --- payloads --- */

static void
builder_put_login(struct cost_builder *b, unsigned opcode, unsigned flags, unsigned tsih)
{
	static const char text[] = "InitiatorName=iqn.a\0TargetName=iqn.b\0HeaderDigest=None\0";
	bool request = opcode == 0x43, names = request && tsih == 0;

	builder_put8(b, opcode);
	builder_put8(b, flags);
	builder_put16(b, 0);
	builder_put32(b, names ? sizeof text - 1 : 0);
	builder_put32(b, 0x00023d00); /* ISID; of one initiator */
	builder_put16(b, 1);
	builder_put16(b, tsih);
	builder_put32(b, 1);
	builder_fill(b, 0, 28);
	if (names)
		builder_put(b, text, sizeof text - 1);
	while (names && (b->len & 3) != 2) /* the link header has 14 bytes */
		builder_put8(b, 0);
}

static void
builder_put_text(struct cost_builder *b, unsigned len)
{
	unsigned data = len > 48 ? (len - 48) / 4 * 4 : 0;

	builder_put(b, "\x43\x87\0\0\0", 5);
	builder_put8(b, 0);
	builder_put16(b, data);
	builder_fill(b, 0, 40);
	for (unsigned i = 0; i < data; i += 4)
		builder_put(b, "a=b", 4);
}

static void
builder_put_payload(struct cost_builder *b, unsigned len)
{
	static const uint8_t candidate[16] = {0x01, 0xa0, [7] = 4};
	unsigned end = b->len + len;

	if (end > COST_FRAME_LEN_MAX)
		end = COST_FRAME_LEN_MAX;
	switch ((enum cost_payload)(b->op->payload % COST_PAYLOADS)) {
	case COST_LOGIN:
		do
			builder_put_login(b, 0x43, 0x87, 1 + (b->flow ^ 0x5555u));
		while (b->len + 48 <= end);
		break;
	case COST_LOGIN_FIRST:
		builder_put_login(b, 0x43, 0x87, 0);
		break;
	case COST_LOGIN_RESPONSE:
		builder_put_login(b, 0x23, 0x87, 1 + b->flow);
		break;
	case COST_TEXT:
		builder_put_text(b, len);
		break;
	case COST_CANDIDATES:
		while (b->len < end)
			builder_put(b, candidate, end - b->len < 16 ? end - b->len : 16);
		break;
	case COST_COMMANDS:
		while (b->len + 48 <= end) {
			builder_put(b, "\x40\x80", 2);
			builder_fill(b, 0, 46);
		}
		break;
	case COST_NOISE:
		while (b->len < end)
			builder_put8(b, (b->maker->noise = b->maker->noise * 1103515245u + 12345u) >> 16 & 0xff);
		break;
	case COST_ZEROS:
	case COST_PAYLOADS:
		break;
	}
	if (b->len < end)
		builder_fill(b, 0, end - b->len);
}

/* --- transports --- */

/* A distance from a sequence number: the low four bits of `how` choose where it begins, the high four what it adds with
 * each frame. */
static uint32_t
cost_distance(unsigned how, uint32_t len, unsigned index)
{
	static const int16_t begins[16] = {0, 0, 0, 0, -1, 1, 2, -2, 10, -10, 100, -100, 500, -500, 1000, -1000};
	static const int16_t steps[16] = {0, 0, 0, 0, 1, -1, 2, -2, 4, -4, 0, 0, 0, 0, 0, 0};
	uint32_t unit = len != 0 ? len : 1;

	return (uint32_t)begins[how & 15] * unit + (uint32_t)steps[how >> 4] * unit * index;
}

static void
builder_put_tcp_options(struct cost_builder *b, uint32_t ack)
{
	unsigned options = b->op->options, blocks = (options >> 1 & 7) < 4 ? options >> 1 & 7 : 4;
	static const uint32_t places[8] = {1, 10, 100, 400, 500, 3, 40, 0x1000};

	if ((options & 1) != 0 && blocks == 4)
		blocks = 3;
	if ((options & 1) != 0) {
		builder_put32(b, 0x0101080a);
		builder_put32(b, 1000 + b->index);
		builder_put32(b, 1000);
	}
	if ((b->op->flags & FLAG_SYN) != 0)
		builder_put32(b, 0x01010402);
	if (blocks == 0)
		return;
	builder_put16(b, 0x0101);
	builder_put8(b, 5);
	builder_put8(b, 2 + 8 * blocks);
	for (unsigned i = 0; i < blocks; i++) {
		uint32_t begin = ack + (2 * i + 1) * places[options >> 4 & 7] * 100 + 200 * b->index;

		builder_put32(b, begin);
		builder_put32(b, begin + 100);
	}
}

static void
builder_put_tcp(struct cost_builder *b, unsigned flags)
{
	const struct cost_op *op = b->op;
	uint32_t *next = b->maker->next[b->flow], len = lengths[op->length & 7];
	uint32_t ack = next[1 - b->from] + cost_distance(op->ack, MSS, b->index);
	unsigned begin = b->len;
	uint16_t client = (uint16_t)(1024 + b->flow), server = ports[op->port & 7];
	bool in_order = (op->seq & 15) < 4 && (op->seq >> 4) < 4;

	if ((op->kind % COST_KINDS) == COST_HANDSHAKE)
		len = 0;
	builder_put16(b, b->from == 0 ? client : server);
	builder_put16(b, b->from == 0 ? server : client);
	builder_put32(b, next[b->from] + cost_distance(op->seq, len != 0 ? len : MSS, b->index));
	builder_put32(b, (flags & FLAG_ACK) != 0 ? ack : 0);
	builder_put8(b, 0);
	builder_put8(b, flags);
	builder_put16(b, 65000);
	builder_put32(b, 0);
	builder_put_tcp_options(b, ack);
	b->bytes[begin + 12] = (uint8_t)((b->len - begin) << 2);
	begin = b->len;
	builder_put_payload(b, len);
	if (in_order)
		next[b->from] += b->len - begin + ((flags & (FLAG_SYN | FLAG_FIN)) != 0);
}

static void
builder_put_udp(struct cost_builder *b)
{
	unsigned begin = b->len;
	uint16_t client = (uint16_t)(1024 + b->flow), server = ports[b->op->port & 7];

	builder_put16(b, b->from == 0 ? client : server);
	builder_put16(b, b->from == 0 ? server : client);
	builder_put32(b, 0);
	builder_put_payload(b, lengths[b->op->length & 7]);
	builder_set16(b, begin + 4, b->len - begin);
}

/* Chunks of one type, until the packet is full: as small as possible, or an INIT with addresses as parameters. */
static void
builder_put_sctp(struct cost_builder *b)
{
	unsigned type = b->op->flags % 16, end = b->len + 12 + lengths[b->op->length & 7];
	uint16_t client = (uint16_t)(1024 + (b->op->ack & 1 ? b->flow : 0)), server = 9899;

	if (end > COST_FRAME_LEN_MAX)
		end = COST_FRAME_LEN_MAX;
	builder_put16(b, b->from == 0 ? client : server);
	builder_put16(b, b->from == 0 ? server : client);
	builder_put32(b, type == 1 ? 0 : 7 + (b->op->ack & 2 ? 0 : b->flow));
	builder_put32(b, 0);
	if (type == 1 || type == 2) {
		builder_put8(b, type);
		builder_put8(b, 0);
		builder_put16(b, end > b->len + 20 ? end - b->len : 20);
		builder_put32(b, 7 + (b->op->ack & 2 ? 0 : b->flow));
		builder_fill(b, 1, 12);
		while (b->len + 8 <= end) {
			builder_put32(b, 0x00050008);
			builder_put32(b, 0x0a000000 + b->len + (b->index << 12));
		}
		return;
	}
	do {
		builder_put8(b, type);
		builder_put8(b, type == 0 ? 3 : 0);
		builder_put16(b, type == 0 ? 17 : type == 3 ? 16 : 4);
		if (type == 0) {
			builder_put32(b, b->maker->next[b->flow][b->from]++);
			builder_fill(b, 0, 12);
		} else if (type == 3) {
			builder_fill(b, 0, 12);
		}
	} while (b->len + 20 <= end);
}

static void
builder_put_icmp_error(struct cost_builder *b)
{
	builder_put32(b, b->ipv6 ? 0x01000000 : 0x03030000);
	builder_put32(b, 0);
	builder_put(b, "\x45\0\0\x28\0\0\0\0\x40\x06\0\0", 12);
	builder_put32(b, 0x0a000000 + b->flow);
	builder_put32(b, 0x0aff0001);
	builder_put16(b, 1024 + b->flow);
	builder_put16(b, ports[b->op->port & 7]);
	builder_put32(b, 0);
}

static uint8_t
cost_protocol(const struct cost_op *op, bool ipv6)
{
	switch ((enum cost_kind)(op->kind % COST_KINDS)) {
	case COST_TCP:
	case COST_HANDSHAKE:
		return 6;
	case COST_SCTP:
		return 132;
	case COST_ICMP_ERROR:
		return ipv6 ? 58 : 1;
	case COST_DCCP:
		return 33;
	case COST_IP:
		return op->flags;
	default:
		return 17;
	}
}

static void
builder_put_transport(struct cost_builder *b, unsigned flags)
{
	switch ((enum cost_kind)(b->op->kind % COST_KINDS)) {
	case COST_TCP:
	case COST_HANDSHAKE:
		builder_put_tcp(b, flags);
		return;
	case COST_UDP:
		builder_put_udp(b);
		return;
	case COST_SCTP:
		builder_put_sctp(b);
		return;
	case COST_ICMP_ERROR:
		builder_put_icmp_error(b);
		return;
	case COST_DCCP:
		builder_put32(b, 0x040004d2 + b->flow);
		builder_put32(b, 0x08000000);
		builder_put32(b, 0x04000000 | (b->op->flags & 31u) << 24);
		builder_put32(b, b->index);
		break;
	default:
		break;
	}
	builder_put_payload(b, lengths[b->op->length & 7]);
}

/* --- network --- */

static void
builder_put_ipv4(struct cost_builder *b, unsigned protocol, bool options)
{
	unsigned addresses[2] = {0x0a000000 + b->flow, 0x0aff0001};

	builder_put8(b, options ? 0x4f : 0x45);
	builder_put8(b, 0);
	builder_put16(b, 0); /* the length is set at the end */
	builder_put16(b, b->op->kind % COST_KINDS == COST_FRAGMENT ? b->flow : b->maker->count);
	builder_put16(b, 0);
	builder_put8(b, 64);
	builder_put8(b, protocol);
	builder_put16(b, 0);
	builder_put32(b, addresses[b->from]);
	builder_put32(b, addresses[1 - b->from]);
	if (options)
		builder_fill(b, 1, 40);
}

static void
builder_put_ipv6(struct cost_builder *b, unsigned protocol, bool extensions)
{
	static const uint8_t addresses[2][12] = {{0x20, 1, 0xd, 0xb8}, {0x20, 1, 0xd, 0xb8, 1}};
	unsigned i;

	builder_put32(b, 0x60000000);
	builder_put16(b, 0);
	builder_put8(b, extensions ? 60 : protocol);
	builder_put8(b, 64);
	for (i = 0; i < 2; i++) {
		unsigned end = i == 0 ? b->from : 1 - b->from;

		builder_put(b, addresses[end], 12);
		builder_put32(b, end == 0 ? b->flow : 1);
	}
	for (i = 0; extensions && i < 16; i++) {
		builder_put8(b, i == 15 ? protocol : 60);
		builder_put8(b, i == 15 ? 60 : 0);
		builder_fill(b, 0, i == 15 ? 486 : 6); /* Pad1 */
	}
}

static void
builder_put_tunnels(struct cost_builder *b)
{
	unsigned wrap = b->op->wrap % COST_WRAPS;

	if (wrap == COST_VXLAN) {
		builder_put_ipv4(b, 17, false);
		builder_put32(b, 0x123412b5);
		builder_put16(b, 1400);
		builder_put16(b, 0);
		builder_put32(b, 0x08000000);
		builder_put32(b, b->flow << 8);
		builder_put(b, "\2\0\0\0\0\1\2\0\0\0\0\2\x08\0", 14);
	}
	for (unsigned i = 0; wrap == COST_GRE && i < 5; i++) {
		builder_put_ipv4(b, 47, false);
		builder_put32(b, 0x00000800);
	}
	for (unsigned i = 0; wrap == COST_IP_IN_IP && i < 10; i++)
		builder_put_ipv4(b, 4, false);
}

/* Sets the lengths of the IP headers, which follow each other directly or in tunnels. */
static void
builder_set_lengths(const struct cost_builder *b, unsigned from)
{
	unsigned at = from;

	while (at + 40 <= b->len && b->bytes[at] >> 4 == 4) {
		unsigned header = (b->bytes[at] & 15u) * 4;

		builder_set16(b, at + 2, b->len - at);
		if (b->bytes[at + 9] == 17 && b->op->wrap % COST_WRAPS == COST_VXLAN && at == from) {
			builder_set16(b, at + 24, b->len - at - 20);
			header += 8 + 8 + 14;
		} else if (b->bytes[at + 9] == 47 && b->op->wrap % COST_WRAPS == COST_GRE) {
			header += 4;
		} else if (b->bytes[at + 9] != 4) {
			break;
		}
		at += header;
	}
	if (at + 40 <= b->len && b->bytes[at] >> 4 == 6)
		builder_set16(b, at + 4, b->len - at - 40);
}

/* Fragments in rising order, the last one missing, of as many datagrams as the operation has flows. */
static void
builder_set_fragment(const struct cost_builder *b, unsigned at)
{
	unsigned how = b->op->seq & 15;
	uint32_t unit = (lengths[b->op->length & 7] + 7u) / 8;
	uint32_t offset = cost_distance(b->op->ack, unit != 0 ? unit : 1, b->index);

	if (b->bytes[at] >> 4 != 4)
		return;
	builder_set16(b, at + 4, how < 8 ? b->flow : b->maker->count);
	builder_set16(b, at + 6, (offset & 0x1fff) | (b->op->flags & 7 ? 0x2000 : 0));
}

static void
cost_make_frame(struct cost_maker *maker, const struct cost_op *op, unsigned index, unsigned flags)
{
	static const uint32_t times[8] = {1, 1, 1, 10, 100, 1000, 20000, 1000000};
	struct cost_frame *frame = &maker->frames[maker->count];
	unsigned over = op->step >> 4 < 13 ? op->step >> 4 : 12;
	struct cost_builder b = {.maker = maker, .op = op, .bytes = frame->bytes, .index = index};
	unsigned wrap = op->wrap % COST_WRAPS, ip;

	b.flow = (op->flow * 16u + ((index * (op->step & 15u)) & ((1u << over) - 1))) % FLOWS;
	b.from = (op->sender & 3) == 2 ? index & 1 : op->sender & 1;
	if (op->kind % COST_KINDS == COST_HANDSHAKE)
		b.from = flags == (FLAG_SYN | FLAG_ACK);
	b.ipv6 = wrap == COST_IPV6 || wrap == COST_EXTENSIONS;
	builder_put(&b, "\2\0\0\0\0\1\2\0\0\0\0\2", 12);
	for (unsigned i = 0; wrap == COST_VLAN && i < 20; i++)
		builder_put32(&b, 0x81000005);
	builder_put16(&b, b.ipv6 ? 0x86dd : 0x0800);
	ip = b.len;
	builder_put_tunnels(&b);
	if (b.ipv6)
		builder_put_ipv6(&b, cost_protocol(op, true), wrap == COST_EXTENSIONS);
	else
		builder_put_ipv4(&b, cost_protocol(op, false), wrap == COST_IP_OPTIONS);
	builder_put_transport(&b, flags);
	builder_set_lengths(&b, ip);
	if (op->kind % COST_KINDS == COST_FRAGMENT)
		builder_set_fragment(&b, ip);
	if (op->change != 0 && ip + op->change < b.len)
		b.bytes[ip + op->change] = (uint8_t)(op->value + index);
	frame->len = (uint16_t)b.len;
	frame->delta_us = times[op->time & 7];
	maker->count++;
}

static void
cost_run_op(struct cost_maker *maker, const struct cost_op *op)
{
	unsigned repeat = 1u << (op->repeat % 12);
	bool handshake = op->kind % COST_KINDS == COST_HANDSHAKE;

	for (unsigned i = 0; i < repeat && maker->count + 3 <= maker->limit; i++) {
		if (!handshake) {
			cost_make_frame(maker, op, i, op->flags);
			continue;
		}
		cost_make_frame(maker, op, i, FLAG_SYN);
		cost_make_frame(maker, op, i, FLAG_SYN | FLAG_ACK);
		cost_make_frame(maker, op, i, FLAG_ACK);
	}
}

unsigned
cost_frames_make(const struct cost_recipe *recipe, struct cost_frame *frames)
{
	static struct cost_maker maker;
	unsigned before;

	maker.frames = frames;
	maker.count = 0;
	maker.limit = recipe->frames > 0 && recipe->frames < COST_FRAMES_MAX ? recipe->frames : COST_FRAMES_MAX;
	maker.noise = 1;
	for (unsigned i = 0; i < FLOWS; i++) {
		maker.next[i][0] = 1000000 + i * 7919;
		maker.next[i][1] = 2000000 + i * 104729;
	}
	for (unsigned i = 0; i < recipe->count; i++)
		cost_run_op(&maker, &recipe->ops[i]);
	do {
		before = maker.count;
		for (unsigned i = recipe->loop; i < recipe->count; i++)
			cost_run_op(&maker, &recipe->ops[i]);
	} while (maker.count > before && maker.count + 3 <= maker.limit);
	return maker.count;
}
