/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as SMB on TCP: in parts, with gaps.
 *
 * Records: a byte of flags, two of length, and as many bytes.  Flags: bit 0 the server sends; bit 2 the bytes are
 * missing; 3 they come in two parts; 5 the clock goes backwards.
 *
 * Every operation has strings that end, and a latency that is -1 or not negative; the tables stay bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/smb/smb_reader.h"
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
fuzz_smb_on_message(void *context, unsigned sender, const void *data)
{
	const struct smb_operation *operation = data;
	const struct app_context *ctx = context;
	const struct smb_connection *connection = ctx->state;

	must(operation->from_server == (sender == FROM_SERVER));
	must(strlen(operation->share) < SMB_SHARE_TEXT_MAX && strlen(operation->path) < SMB_PATH_TEXT_MAX);
	must(operation->latency_us >= -1);
	must(connection->tables.requests <= SMB_REQUESTS_MAX);
}

static void
fuzz_smb_on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	must(a > ANOMALY_NONE && a < ANOMALY_COUNT);
}

/* The memory of a part ends where the part does, for AddressSanitizer. */
static void
fuzz_smb_feed(struct app_context *ctx, unsigned flags, const uint8_t *bytes, uint32_t length)
{
	uint8_t *copy;

	if (length == 0 || !smb_reader.is_reading(ctx->state, flags & FROM_SERVER))
		return;
	copy = malloc(length);
	must(copy != NULL);
	memcpy(copy, bytes, length);
	if ((flags & MISSED) != 0)
		smb_reader.on_gap(ctx, flags & FROM_SERVER, length);
	else
		smb_reader.on_bytes(ctx, flags & FROM_SERVER, (struct slice){copy, length});
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct flow flow = {.kind = FLOW_TCP, .key = {.port = {40000, 445}}};
	struct app_context ctx = {.flow = &flow,
				  .cid = 7,
				  .now = UINT64_C(1000000000),
				  .server_endpoint = 1,
				  .traced = true,
				  .on_message = fuzz_smb_on_message,
				  .on_anomaly = fuzz_smb_on_anomaly};

	ctx.context = &ctx;
	ctx.state = calloc(1, smb_reader.state_size);
	must(ctx.state != NULL);
	smb_reader.on_start(&ctx, 0, true);
	smb_reader.on_start(&ctx, 1, true);
	while (size > 3) {
		unsigned flags = data[0];
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]), first;

		data += 3;
		size -= 3;
		length = length < size ? length : (uint32_t)size;
		first = (flags & IN_PARTS) != 0 ? length / 2 : 0;
		fuzz_smb_feed(&ctx, flags & ~(unsigned)MISSED, data, first);
		fuzz_smb_feed(&ctx, flags, data + first, length - first);
		data += length;
		size -= length;
		ctx.now = (flags & EARLIER) != 0 ? ctx.now - 1000 : ctx.now + 2000;
	}
	free(ctx.state);
	return 0;
}
