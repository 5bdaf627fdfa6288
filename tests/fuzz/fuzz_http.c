/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes in any segments on an HTTP connection.
 *
 * The first byte says how the connection begins (bit 0: with its handshake; bit 1: no probe is enabled at first).
 * Records follow: a byte of flags, two of length, and as many bytes of payload.  Flags: bit 0 the server sends; bit 1
 * the segment is missing in the capture; 2 it is retransmitted, 3 it precedes the segment before it; 4 it is cut in
 * half; 5 the sender ends after it; 6 the payload is one byte, repeated; 7 it is sent byte by byte.
 *
 * A connection whose segments are all whole and in order is read a second time, in other segments: the reports must be
 * the same.  A request is done at most once and not before it starts, and its texts are texts.
 */
#include "tests/apps/http/http_fixture.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FROM_SERVER = 0x01,
	MISSED = 0x02,
	AGAIN = 0x04,
	SWAPPED = 0x08,
	CUT = 0x10,
	ENDS = 0x20,
	REPEATED = 0x40,
	BYTES = 0x80,
};

static struct http_fixture script;

static void
fuzz_http_check_message(void)
{
	const struct httpinfo *info = &script.info;

	if (script.starts + script.dones == 0)
		return;
	must(script.dones <= script.starts);
	must(strlen(info->rq_method) <= HTTP_METHOD_MAX && info->rq_method[0] != '\0');
	must(strlen(info->rq_uri) <= HTTP_URI_MAX);
	must(strlen(info->rq_host) <= HTTP_HOST_MAX);
	must(strlen(info->rq_agent) <= HTTP_AGENT_MAX);
	must(info->rq_status == 0 || info->rq_status == 101 || (info->rq_status >= 200 && info->rq_status <= 999));
	must(info->rq_total_us == -1 || info->rq_total_us >= info->rq_first_byte_us);
	must((info->rq_status != 0) == (info->rq_response_bytes != 0));
	must(info->rq_request_bytes > info->rq_uri_len);
}

/* Sends bytes in segments of `step` bytes. */
static void
fuzz_http_send(unsigned from, const uint8_t *bytes, uint32_t length, uint32_t step)
{
	for (uint32_t at = 0; at < length; at += step) {
		tcp_fixture_feed(&script.tcp, from, bytes + at, step < length - at ? step : length - at);
		fuzz_http_check_message();
	}
}

static void
fuzz_http_feed(unsigned flags, const uint8_t *bytes, uint32_t length, uint32_t step)
{
	static uint8_t filler[65536];
	unsigned from = (flags & FROM_SERVER) != 0 ? SERVER : CLIENT;
	uint32_t seq = script.tcp.next[from], have = (flags & CUT) != 0 ? length / 2 : length;

	if ((flags & REPEATED) != 0 && length > 0) {
		memset(filler, bytes[0], length);
		bytes = filler;
	}
	if ((flags & (MISSED | AGAIN | SWAPPED | CUT)) == 0) {
		fuzz_http_send(from, bytes, length, (flags & BYTES) != 0 && length < 2000 ? 1 : step);
	} else if ((flags & MISSED) != 0) {
		script.tcp.next[from] += length;
	} else if ((flags & SWAPPED) != 0 && length > 1) {
		script.tcp.next[from] += length;
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq + length / 2, bytes + length / 2,
					 length - length / 2, length - length / 2);
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq, bytes, length / 2, length / 2);
	} else {
		script.tcp.next[from] += length;
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq, bytes, have, length);
	}
	if ((flags & AGAIN) != 0)
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq, bytes, have, length);
	if ((flags & ENDS) != 0)
		tcp_fixture_end(&script.tcp, from, length % 2 != 0 ? TCP_RST : TCP_FIN);
	fuzz_http_check_message();
}

/* Reads the connection in segments of at most `step` bytes.  False if a segment is missing, damaged or out of order. */
static bool
fuzz_http_run(const uint8_t *data, size_t size, uint32_t step)
{
	bool whole = (data[0] & 3) == 1;

	script.tcp.port[CLIENT] = script.tcp.port[CLIENT] < 60000 ? script.tcp.port[CLIENT] + 1 : 1024;
	script.tcp.ctx.traced = (data[0] & 2) == 0;
	script.starts = script.dones = 0;
	script.length = 0;
	script.tcp.next[CLIENT] = 0x10000 + data[0];
	script.tcp.next[SERVER] = 0x20000;
	if ((data[0] & 1) != 0)
		tcp_fixture_handshake(&script.tcp);
	for (data++, size--; size > 3;) {
		unsigned flags = data[0];
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]);

		data += 3;
		size -= 3;
		if ((flags & REPEATED) == 0 && length > size)
			length = (uint32_t)size;
		whole &= (flags & (MISSED | AGAIN | SWAPPED | CUT | ENDS)) == 0;
		fuzz_http_feed(flags, data, length, step);
		length = (flags & REPEATED) != 0 ? 1 : length;
		data += length;
		size -= length;
		script.tcp.ctx.traced = true;
	}
	return whole;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char first[sizeof script.trace];

	if (size < 4)
		return 0;
	if (script.tcp.flows == NULL)
		http_fixture_setup(&script);
	script.anomalies[ANOMALY_HTTP_LOST] = 0;
	if (!fuzz_http_run(data, size, 65536) || script.anomalies[ANOMALY_HTTP_LOST] > 0)
		return 0;
	/* After a loss the search depends on the segments. */
	memcpy(first, script.trace, sizeof first);
	first[script.length] = '\0';
	script.trace[0] = '\0';
	fuzz_http_run(data, size, 7);
	script.trace[script.length] = '\0';
	must(script.anomalies[ANOMALY_HTTP_UNASKED] > 0 || strcmp(first, script.trace) == 0);
	return 0;
}
