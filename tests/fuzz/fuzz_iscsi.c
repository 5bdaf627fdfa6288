/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes in any segments on an iSCSI connection.
 *
 * The first byte says how the connection begins (bit 0: with its handshake; bit 1: no probe is enabled at first).
 * Records follow: a byte of flags, two of length, and as many bytes of payload.  Flags: bit 0 the target sends; bit 1
 * the segment is missing in the capture; 2 it is retransmitted, 3 it precedes the segment before it; 4 it is cut in
 * half; 5 a login with digests comes first; 6 the payload is one byte, repeated.
 *
 * Every reported PDU must be one that its sender may send, with names that are text, and the memory in use is bounded.
 */
#include "tests/apps/iscsi/iscsi_fixture.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FROM_TARGET = 0x01,
	MISSED = 0x02,
	AGAIN = 0x04,
	SWAPPED = 0x08,
	CUT = 0x10,
	LOGIN_FIRST = 0x20,
	REPEATED = 0x40,
};

static struct iscsi_fixture script;

static void
fuzz_iscsi_check_message(void)
{
	const struct iscsi_connection *connection = &script.session;

	if (script.messages == 0)
		return;
	must(memchr(connection->target, '\0', sizeof connection->target) != NULL);
	must(memchr(connection->initiator, '\0', sizeof connection->initiator) != NULL);
	must(script.pdu.data_length <= ISCSI_DATA_MAX);
	must(script.cdb_length <= ISCSI_CDB_MAX);
	must(app_flow_table_counters(script.tcp.app_flows)->active <= iscsi_reader.connections_max);
}

static void
fuzz_iscsi_feed(unsigned flags, const uint8_t *bytes, uint32_t length)
{
	static uint8_t filler[65536];
	unsigned from = (flags & FROM_TARGET) != 0 ? TARGET : INITIATOR;
	uint32_t seq = script.tcp.next[from], have = (flags & CUT) != 0 ? length / 2 : length;

	if ((flags & LOGIN_FIRST) != 0)
		iscsi_fixture_login(&script, "HeaderDigest=CRC32C\0DataDigest=CRC32C\0", 38, "HeaderDigest=CRC32C\0",
				    20);
	seq = script.tcp.next[from];
	if ((flags & REPEATED) != 0 && length > 0) {
		memset(filler, bytes[0], length);
		bytes = filler;
	}
	script.tcp.next[from] += length;
	if ((flags & MISSED) != 0)
		return;
	if ((flags & SWAPPED) != 0 && length > 1) {
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq + length / 2, bytes + length / 2,
					 length - length / 2, length - length / 2);
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq, bytes, length / 2, length / 2);
	} else {
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq, bytes, have, length);
	}
	if ((flags & AGAIN) != 0)
		tcp_fixture_feed_segment(&script.tcp, from, TCP_ACK, seq, bytes, have, length);
	fuzz_iscsi_check_message();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	if (script.tcp.flows == NULL)
		iscsi_fixture_setup(&script);
	script.tcp.port[CLIENT]++; /* another connection for each input, and old ones make room */
	script.tcp.port[CLIENT] = script.tcp.port[CLIENT] < 1024    ? 1024
				  : script.tcp.port[CLIENT] == 3260 ? 3261
								    : script.tcp.port[CLIENT];
	script.tcp.ctx.traced = (data[0] & 2) == 0;
	script.messages = 0;
	script.length = 0;
	script.tcp.next[INITIATOR] = 0x10000 + data[0];
	script.tcp.next[TARGET] = 0x20000;
	if ((data[0] & 1) != 0)
		tcp_fixture_handshake(&script.tcp);
	data++;
	size--;
	while (size > 3) {
		unsigned flags = data[0];
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]);

		data += 3;
		size -= 3;
		if ((flags & REPEATED) == 0 && length > size)
			length = (uint32_t)size;
		fuzz_iscsi_feed(flags, data, length);
		length = (flags & REPEATED) != 0 ? 1 : length;
		data += length;
		size -= length;
		script.tcp.ctx.traced = true;
	}
	return 0;
}
