/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_reader.h"

static void
smb_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	(void)ctx, (void)sender, (void)beginning;
}

static void
smb_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	(void)ctx, (void)sender, (void)bytes;
}

static void
smb_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	(void)ctx, (void)sender, (void)length;
}

static bool
smb_is_reading(const void *state, unsigned sender)
{
	(void)state, (void)sender;
	return false;
}

const struct app_reader smb_reader = {
    .state_size = 64,
    .connections_max = 2048,
    .on_start = smb_on_start,
    .on_bytes = smb_on_bytes,
    .on_gap = smb_on_gap,
    .is_reading = smb_is_reading,
};
