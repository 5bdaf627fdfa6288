/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_reader.h"

static void
dns_on_start(struct app_context *ctx, unsigned sender, bool beginning)
{
	(void)ctx, (void)sender, (void)beginning;
}

static void
dns_on_bytes(struct app_context *ctx, unsigned sender, struct slice bytes)
{
	(void)ctx, (void)sender, (void)bytes;
}

static void
dns_on_gap(struct app_context *ctx, unsigned sender, uint32_t length)
{
	(void)ctx, (void)sender, (void)length;
}

static bool
dns_is_reading(const void *state, unsigned sender)
{
	(void)state, (void)sender;
	return false;
}

const struct app_reader dns_reader = {
    .state_size = 64,
    .connections_max = 1024,
    .on_start = dns_on_start,
    .on_bytes = dns_on_bytes,
    .on_gap = dns_on_gap,
    .is_reading = dns_is_reading,
};
