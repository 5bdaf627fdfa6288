/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as SMB on TCP; fuzz_stream.h has the shape of the input.
 *
 * Every operation has strings that end, and a latency that is -1 or not negative; the tables stay bounded.  The same
 * bytes in smaller parts are the same operations.
 */
#include <stdio.h>

#include "apps/smb/smb.h"
#include "tests/fuzz/fuzz_stream.h"

/* First bytes of a segment that stay together: after a gap the reader recognises a message by them. */
#define FUZZ_SMB_FIRST 10u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Operations of one pass: their number, and a hash of all their fields (FNV-1a). */
static struct fuzz_smb_sum {
	uint64_t operations, hash;
} fuzz_smb_sum;

static void
fuzz_smb_add(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		fuzz_smb_sum.hash = (fuzz_smb_sum.hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void
fuzz_smb_on_message(void *context, unsigned sender, const void *data)
{
	const struct smb_operation *operation = data;
	const struct app_context *ctx = context;
	const struct smb_connection *connection = ctx->state;
	char numbers[256];
	int length;

	must(operation->from_server == (sender == FROM_SERVER));
	must(strlen(operation->share) < SMB_SHARE_TEXT_MAX && strlen(operation->path) < SMB_PATH_TEXT_MAX);
	must(operation->latency_us >= -1);
	must(connection->tables.requests <= SMB_REQUESTS_MAX);
	length = snprintf(numbers, sizeof numbers, "%llu %llu %llu %lld %u %u %u %u %u %u %d %d",
			  (unsigned long long)operation->session_id, (unsigned long long)operation->message_id,
			  (unsigned long long)operation->offset, (long long)operation->latency_us, operation->tree_id,
			  operation->count, operation->status, operation->flags, operation->command,
			  operation->dialect, operation->from_server, operation->encrypted);
	must(length > 0 && (size_t)length < sizeof numbers);
	fuzz_smb_sum.operations++;
	fuzz_smb_add(numbers, (size_t)length);
	fuzz_smb_add(operation->share, strlen(operation->share) + 1);
	fuzz_smb_add(operation->path, strlen(operation->path) + 1);
}

/* Passes a segment on byte by byte after its first bytes. */
static void
fuzz_smb_on_bytes_split(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	uint32_t first = bytes.len < FUZZ_SMB_FIRST ? bytes.len : FUZZ_SMB_FIRST;

	smb_reader.on_bytes(ctx, sender, slice_sub(bytes, 0, first));
	for (uint32_t i = first; i < bytes.len; i++)
		smb_reader.on_bytes(ctx, sender, slice_sub(bytes, i, 1));
}

static struct fuzz_smb_sum
fuzz_smb_read(const struct app_reader *reader, const uint8_t *data, size_t size)
{
	fuzz_smb_sum = (struct fuzz_smb_sum){0};
	fuzz_stream_read(reader, 445, fuzz_smb_on_message, data, size);
	return fuzz_smb_sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct app_reader split_reader = smb_reader;
	struct fuzz_smb_sum whole, split;

	split_reader.on_bytes = fuzz_smb_on_bytes_split;
	whole = fuzz_smb_read(&smb_reader, data, size);
	split = fuzz_smb_read(&split_reader, data, size);
	must(whole.operations == split.operations && whole.hash == split.hash);
	return 0;
}
