/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP options: RFC 9293 section 3.2, RFC 7323, RFC 2018, RFC 7413, RFC 2385, RFC 5925. */
#include "dissect/header_fields.h"

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
enum { EXPERIMENT_FAST_OPEN = 0xf989, LARGEST_SHIFT = 14, SACK_BLOCKS = 4 };

static void
take_wscale(struct packet *packet, struct view option)
{
	uint8_t shift = view_u8(option, 2);

	if (shift > LARGEST_SHIFT) { /* RFC 7323 section 2.3: a larger shift is logged and 14 is used */
		packet_note(packet, ANOMALY_TCP_WSCALE);
		shift = LARGEST_SHIFT;
	}
	packet->tcp.wscale = shift;
}

static void
take_sack(struct tcp_layer *tcp, struct view option)
{
	tcp->sacks = 0;
	for (uint32_t at = 2; view_has(option, at, 8) && tcp->sacks < SACK_BLOCKS; at += 8) {
		tcp->sack[tcp->sacks][0] = view_u32(option, at);
		tcp->sack[tcp->sacks][1] = view_u32(option, at + 4);
		tcp->sacks++;
	}
}

/* The bit of an option, 0 if the option is not recorded.  `*fits` is whether its length is valid for its kind. */
static enum tcp_option
recognise(struct view option, bool *fits)
{
	switch (view_u8(option, 0)) {
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
		return view_u16(option, 2) == EXPERIMENT_FAST_OPEN ? TCP_OPTION_FAST_OPEN : 0;
	default:
		*fits = true;
		return 0;
	}
}

static void
take_option(struct packet *packet, struct view option)
{
	struct tcp_layer *tcp = &packet->tcp;
	bool fits;
	enum tcp_option bit = recognise(option, &fits);

	if (!fits) {
		packet_note(packet, ANOMALY_TCP_OPTION_LENGTH);
		return;
	}
	tcp->options = (uint8_t)(tcp->options | bit);
	switch (bit) {
	case TCP_OPTION_MSS:
		tcp->mss = view_u16(option, 2);
		break;
	case TCP_OPTION_WSCALE:
		take_wscale(packet, option);
		break;
	case TCP_OPTION_SACK:
		take_sack(tcp, option);
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

/* Parses the captured part of the options.  An option cut by the snapshot length is skipped; the caller records the
 * truncation.  If an option occurs twice the second one counts, as in the kernels. */
void
dissect_tcp_options(struct packet *packet, struct view options)
{
	uint32_t wire = packet->tcp.offset - 20u;
	struct cursor c = cursor_over(options.at, options.len, wire);
	struct view head, option;

	if (options.len == 12 && wire == 12 && view_u32(options, 0) == TIMESTAMPS_ALONE) {
		packet->tcp.options = TCP_OPTION_TIMESTAMPS;
		tcp_record_timestamps(&packet->tcp, view_part(options, 2, 10));
		return;
	}
	while (cursor_peek(&c, 1, &head) && view_u8(head, 0) != KIND_END) {
		if (view_u8(head, 0) == KIND_NOP) {
			cursor_skip(&c, 1);
			continue;
		}
		/* Every other option has a length byte, which counts kind and length too. */
		if (c.wire < 2 || (cursor_peek(&c, 2, &head) && view_u8(head, 1) < 2)) {
			packet_note(packet, ANOMALY_TCP_OPTIONS);
			return;
		}
		if (head.len < 2)
			return;
		if (!cursor_take(&c, view_u8(head, 1), &option)) {
			if (c.error == CURSOR_SHORT)
				packet_note(packet, ANOMALY_TCP_OPTIONS);
			return;
		}
		take_option(packet, option);
	}
}
