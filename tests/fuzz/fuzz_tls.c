/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as TLS on TCP: in parts, with gaps.
 *
 * Records: a byte of flags, two of length, and as many bytes.  Flags: bit 0 the server sends; bit 2 the bytes are
 * missing; 3 they come in two parts; 5 the clock goes backwards.
 *
 * Every message has strings that end, and times that are -1 or not negative.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/tls/tls_ja4.h"
#include "apps/tls/tls_reader.h"
#include "flow/flow.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FROM_SERVER = 0x01,
	MISSED = 0x04,
	IN_PARTS = 0x08,
	EARLIER = 0x20,
};

static void
fuzz_tls_on_message(void *context, unsigned sender, const void *data)
{
	const struct tls_message *message = data;
	const struct tls_connection *connection = message->connection;
	char ja4[TLS_JA4_SIZE];

	(void)context;
	(void)sender;
	must(strlen(connection->client.name) == connection->client.name_length);
	must(strlen(connection->client.alpn) == connection->client.alpn_length);
	must(strlen(connection->server.alpn) == connection->server.alpn_length);
	must(connection->hello_us >= -1 && connection->handshake_us >= -1);
	tls_ja4(&connection->client, ja4);
	must(strlen(ja4) == (connection->client.too_many ? 0 : 36));
}

static void
fuzz_tls_on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	must(a > ANOMALY_NONE && a < ANOMALY_COUNT);
}

/* The memory of a part ends where the part does, for AddressSanitizer. */
static void
fuzz_tls_feed(struct app_context *ctx, unsigned flags, const uint8_t *bytes, uint32_t length)
{
	uint8_t *copy;

	if (length == 0 || !tls_reader.is_reading(ctx->state, flags & FROM_SERVER))
		return;
	copy = malloc(length);
	must(copy != NULL);
	memcpy(copy, bytes, length);
	if ((flags & MISSED) != 0)
		tls_reader.on_gap(ctx, flags & FROM_SERVER, length);
	else
		tls_reader.on_bytes(ctx, flags & FROM_SERVER, (struct slice){copy, length});
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct flow flow = {.kind = FLOW_TCP, .key = {.port = {40000, 443}}};
	struct app_context ctx = {.flow = &flow,
				  .cid = 7,
				  .now = UINT64_C(1000000000),
				  .server_endpoint = 1,
				  .traced = true,
				  .on_message = fuzz_tls_on_message,
				  .on_anomaly = fuzz_tls_on_anomaly};

	ctx.state = calloc(1, tls_reader.state_size);
	must(ctx.state != NULL);
	tls_reader.on_start(&ctx, 0, true);
	tls_reader.on_start(&ctx, 1, true);
	while (size > 3) {
		unsigned flags = data[0];
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]), first;

		data += 3;
		size -= 3;
		length = length < size ? length : (uint32_t)size;
		first = (flags & IN_PARTS) != 0 ? length / 2 : 0;
		fuzz_tls_feed(&ctx, flags & ~(unsigned)MISSED, data, first);
		fuzz_tls_feed(&ctx, flags, data + first, length - first);
		data += length;
		size -= length;
		ctx.now = (flags & EARLIER) != 0 ? ctx.now - 1000 : ctx.now + 2000;
	}
	free(ctx.state);
	return 0;
}
