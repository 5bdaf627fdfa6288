/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_reader.h"

static void
http_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	(void)ctx, (void)sender, (void)beginning;
}

static void
http_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	(void)ctx, (void)sender, (void)bytes;
}

static void
http_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	(void)ctx, (void)sender, (void)length;
}

static bool
http_is_reading(const void *state, unsigned sender)
{
	(void)state, (void)sender;
	return false;
}

const struct app_reader http_reader = {
    .state_size = 64,
    .connections_max = 131072,
    .on_start = http_on_start,
    .on_bytes = http_on_bytes,
    .on_gap = http_on_gap,
    .is_reading = http_is_reading,
};
