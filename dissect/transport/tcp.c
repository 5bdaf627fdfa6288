/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP, RFC 9293. */
#include "dissect/header_fields.h"

/* --- TCP options: RFC 9293 section 3.2, RFC 7323, RFC 2018, RFC 7413, RFC 2385, RFC 5925. --- */

enum {
	KIND_END = 0,
	KIND_NOP = 1,
	KIND_MSS = 2,
	KIND_WSCALE = 3,
	KIND_SACK_PERMITTED = 4,
	KIND_SACK = 5,
	KIND_TIMESTAMPS = 8,
	KIND_MD5 = 19,
	KIND_AO = 29,
	KIND_FAST_OPEN = 34,
	KIND_EXPERIMENT = 254, /* RFC 6994; used for fast open before RFC 7413 assigned a kind */
};
enum { EXPERIMENT_FAST_OPEN = 0xf989, TCP_WSCALE_MAX = 14, SACK_BLOCKS = 4 };

static void
tcp_record_wscale(struct packet *packet, struct slice option)
{
	uint8_t shift = slice_u8(option, 2);

	if (shift > TCP_WSCALE_MAX) { /* RFC 7323 section 2.3: a larger shift is logged and 14 is used */
		packet_add_anomaly(packet, ANOMALY_TCP_WSCALE);
		shift = TCP_WSCALE_MAX;
	}
	packet->tcp.wscale = shift;
}

static void
tcp_record_sack(struct tcp_layer *tcp, struct slice option)
{
	tcp->sack_count = 0;
	for (uint32_t at = 2; slice_has(option, at, 8) && tcp->sack_count < SACK_BLOCKS; at += 8) {
		tcp->sack[tcp->sack_count][0] = slice_u32(option, at);
		tcp->sack[tcp->sack_count][1] = slice_u32(option, at + 4);
		tcp->sack_count++;
	}
}

/* The bit of an option, 0 if the option is not recorded.  `*fits` is whether its length is valid for its kind. */
static enum tcp_option
tcp_option_identify(struct slice option, bool *fits)
{
	switch (slice_u8(option, 0)) {
	case KIND_MSS:
		*fits = option.len == 4;
		return TCP_OPTION_MSS;
	case KIND_WSCALE:
		*fits = option.len == 3;
		return TCP_OPTION_WSCALE;
	case KIND_SACK_PERMITTED:
		*fits = option.len == 2;
		return TCP_OPTION_SACK_PERMITTED;
	case KIND_SACK:
		*fits = option.len >= 10 && (option.len - 2) % 8 == 0;
		return TCP_OPTION_SACK;
	case KIND_TIMESTAMPS:
		*fits = option.len == 10;
		return TCP_OPTION_TIMESTAMPS;
	case KIND_MD5:
		*fits = option.len == 18;
		return TCP_OPTION_MD5;
	case KIND_AO:
		*fits = option.len >= 4;
		return TCP_OPTION_AO;
	case KIND_FAST_OPEN: /* a request is empty, a cookie has an even length of 4 to 16 */
		*fits = option.len == 2 || (option.len >= 6 && option.len <= 18 && option.len % 2 == 0);
		return TCP_OPTION_FAST_OPEN;
	case KIND_EXPERIMENT:
		*fits = true;
		return slice_u16(option, 2) == EXPERIMENT_FAST_OPEN ? TCP_OPTION_FAST_OPEN : 0;
	default:
		*fits = true;
		return 0;
	}
}

static void
tcp_record_option(struct packet *packet, struct slice option)
{
	struct tcp_layer *tcp = &packet->tcp;
	bool fits;
	enum tcp_option bit = tcp_option_identify(option, &fits);

	if (!fits) {
		packet_add_anomaly(packet, ANOMALY_TCP_OPTION_LENGTH);
		return;
	}
	tcp->options = (uint8_t)(tcp->options | bit);
	switch (bit) {
	case TCP_OPTION_MSS:
		tcp->mss = slice_u16(option, 2);
		break;
	case TCP_OPTION_WSCALE:
		tcp_record_wscale(packet, option);
		break;
	case TCP_OPTION_SACK:
		tcp_record_sack(tcp, option);
		break;
	case TCP_OPTION_TIMESTAMPS:
		tcp_record_timestamps(tcp, option);
		break;
	case TCP_OPTION_SACK_PERMITTED:
	case TCP_OPTION_FAST_OPEN:
	case TCP_OPTION_MD5:
	case TCP_OPTION_AO:
		break;
	}
}

/* Parses the captured part of the options.  An option that the snapshot length truncates is skipped; the caller records
 * the truncation.  If an option occurs twice the second one counts, as in the kernels. */
static void
dissect_tcp_options(struct packet *packet, struct slice options)
{
	uint32_t wire = packet->tcp.header_len - (uint32_t)TCP_HEADER_MIN;
	struct cursor c = cursor_init(options.at, options.len, wire);
	struct slice head, option;

	if (options.len == 12 && wire == 12 && slice_u32(options, 0) == TCP_TIMESTAMPS_ONLY) {
		packet->tcp.options = TCP_OPTION_TIMESTAMPS;
		tcp_record_timestamps(&packet->tcp, slice_sub(options, 2, 10));
		return;
	}
	while (cursor_peek(&c, 1, &head) && slice_u8(head, 0) != KIND_END) {
		if (slice_u8(head, 0) == KIND_NOP) {
			cursor_skip(&c, 1);
			continue;
		}
		/* Every other option has a length byte, which counts kind and length too. */
		if (c.wire < 2 || (cursor_peek(&c, 2, &head) && slice_u8(head, 1) < 2)) {
			packet_add_anomaly(packet, ANOMALY_TCP_OPTIONS);
			return;
		}
		if (head.len < 2)
			return;
		if (!cursor_take(&c, slice_u8(head, 1), &option)) {
			if (c.error == CURSOR_SHORT)
				packet_add_anomaly(packet, ANOMALY_TCP_OPTIONS);
			return;
		}
		tcp_record_option(packet, option);
	}
}

enum { TCP_RESERVED_BITS = 0x0e }; /* the fourth bit is AccECN's (RFC 9768) */

static void
tcp_validate(struct packet *packet, struct slice fixed)
{
	const struct tcp_layer *tcp = &packet->tcp;

	if (__builtin_expect(tcp_flags_are_impossible(tcp->flags), 0))
		packet_add_anomaly(packet, ANOMALY_TCP_FLAGS);
	if (__builtin_expect((slice_u8(fixed, 12) & TCP_RESERVED_BITS) != 0, 0))
		packet_add_anomaly(packet, ANOMALY_TCP_RESERVED);
	if (__builtin_expect(tcp->sport == 0 || tcp->dport == 0, 0))
		packet_add_anomaly(packet, ANOMALY_TCP_PORT_ZERO);
}

void
dissect_tcp_header(struct packet *packet, struct slice fixed, struct slice options)
{
	struct tcp_layer *tcp = &packet->tcp;

	tcp_record(tcp, fixed);
	tcp->header.len += options.len;
	if (options.len > 0)
		dissect_tcp_options(packet, options);
	if (__builtin_expect(tcp->header.len < tcp->header_len, 0))
		packet_add_anomaly(packet, ANOMALY_TRUNCATED_OPTIONS);
	tcp_validate(packet, fixed);
}

void
dissect_tcp(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice fixed, options = {NULL, 0};
	uint32_t length;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, TCP_HEADER_MIN, &fixed)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TCP_SHORT);
		return;
	}
	length = slice_u8(fixed, 12) / 16u * 4;
	if (length < TCP_HEADER_MIN || !cursor_take_captured(&c, length - TCP_HEADER_MIN, &options)) {
		tcp_record(&packet->tcp, fixed);
		packet_add_anomaly(packet, ANOMALY_TCP_HEADER_LENGTH);
		return;
	}
	packet->transport = TRANSPORT_TCP;
	packet_advance(packet, &c);
	packet->payload_wire = c.wire;
	dissect_tcp_header(packet, fixed, options);
}
