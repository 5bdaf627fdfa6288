/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as SMB on TCP; fuzz_stream.h has the shape of the input.
 *
 * Every operation has strings that end, and a latency that is -1 or not negative; the tables stay bounded.
 */
#include "apps/smb/smb_reader.h"
#include "tests/fuzz/fuzz_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_stream_read(&smb_reader, 445, fuzz_smb_on_message, data, size);
	return 0;
}
