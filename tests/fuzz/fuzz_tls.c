/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as TLS on TCP; fuzz_stream.h has the shape of the input.
 *
 * Every message has strings that end, and times that are -1 or not negative.
 */
#include "apps/tls/tls.h"
#include "tests/fuzz/fuzz_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_stream_read(&tls_reader, 443, fuzz_tls_on_message, data, size);
	return 0;
}
