/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_reader.h"

static void
tls_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	(void)ctx, (void)sender, (void)beginning;
}

static void
tls_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	(void)ctx, (void)sender, (void)bytes;
}

static void
tls_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	(void)ctx, (void)sender, (void)length;
}

static bool
tls_is_reading(const void *state, unsigned sender)
{
	(void)state, (void)sender;
	return false;
}

const struct app_reader tls_reader = {
    .state_size = 64,
    .connections_max = 16384,
    .on_start = tls_on_start,
    .on_bytes = tls_on_bytes,
    .on_gap = tls_on_gap,
    .is_reading = tls_is_reading,
};
