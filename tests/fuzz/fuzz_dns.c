/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as DNS: as datagrams and on TCP, in parts, with gaps.
 *
 * Records: a byte of flags, two of length, and as many bytes.  Flags: bit 0 the server sends; bit 1 on TCP; bit 2 the
 * bytes are missing; 3 they come in two parts; 4 the snapshot length cut them; 5 two seconds pass.
 *
 * Every message has names that are text, and the queries that wait are bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/dns/dns.h"
#include "flow/flow.h"
#include "probes/netobs.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FROM_SERVER = 0x01,
	ON_TCP = 0x02,
	MISSED = 0x04,
	IN_PARTS = 0x08,
	CUT = 0x10,
	LATER = 0x20,
};

static void
fuzz_dns_check_text(const char *text, size_t size)
{
	must(memchr(text, '\0', size) != NULL);
	for (; *text != '\0'; text++)
		must(*text > ' ' && *text < 0x7f);
}

static void
fuzz_dns_check(const void *message)
{
	struct dnsinfo info;

	args_dnsinfo(&info, message);
	fuzz_dns_check_text(info.dns_qname, sizeof info.dns_qname);
	fuzz_dns_check_text(info.dns_cname, sizeof info.dns_cname);
	fuzz_dns_check_text(info.dns_addr, sizeof info.dns_addr);
	fuzz_dns_check_text(info.dns_qtypestr, sizeof info.dns_qtypestr);
	fuzz_dns_check_text(info.dns_rcodestr, sizeof info.dns_rcodestr);
	must(info.dns_latency_us >= -1);
}

static void
fuzz_dns_on_message(void *context, unsigned sender, const void *message)
{
	(void)context;
	(void)sender;
	fuzz_dns_check(message);
}

static void
fuzz_dns_on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	must(a > ANOMALY_NONE && a < ANOMALY_COUNT);
}

static bool
fuzz_dns_on_timeout(void *context, const struct flow *flow, uint64_t cid, uint64_t time, const void *message)
{
	(void)context;
	(void)flow;
	(void)time;
	must(cid == 7);
	fuzz_dns_check(message);
	return true;
}

/* The memory of a part ends where the part does, for AddressSanitizer. */
static void
fuzz_dns_feed(struct app_context *ctx, unsigned flags, const uint8_t *bytes, uint32_t length)
{
	uint32_t have = (flags & CUT) != 0 ? length / 2 : length;
	uint8_t *copy = malloc(have + 1u);

	memcpy(copy, bytes, have);
	if ((flags & ON_TCP) == 0)
		dns_reader.on_datagram(ctx, flags & FROM_SERVER, (struct slice){copy, have}, length);
	else if ((flags & MISSED) != 0 && length > 0)
		dns_reader.on_gap(ctx, flags & FROM_SERVER, length);
	else if (have > 0)
		dns_reader.on_bytes(ctx, flags & FROM_SERVER, (struct slice){copy, have});
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct flow flow = {.kind = FLOW_TCP, .key = {.port = {40000, 53}}};
	const struct app_settings settings = {.seed = 1, .timeout_ns = UINT64_C(5000000000)};
	struct app_context ctx = {.flow = &flow,
				  .cid = 7,
				  .now = 1,
				  .server_endpoint = 1,
				  .traced = true,
				  .on_message = fuzz_dns_on_message,
				  .on_anomaly = fuzz_dns_on_anomaly,
				  .on_timeout = fuzz_dns_on_timeout};

	ctx.state = calloc(1, dns_reader.state_size);
	ctx.shared = dns_reader.open(&settings);
	must(ctx.state != NULL && ctx.shared != NULL);
	dns_reader.on_start(&ctx, 0, true);
	dns_reader.on_start(&ctx, 1, true);
	while (size > 3) {
		unsigned flags = data[0];
		uint32_t length = (uint32_t)(data[1] << 8 | data[2]);

		data += 3;
		size -= 3;
		length = length < size ? length : (uint32_t)size;
		if ((flags & IN_PARTS) != 0)
			fuzz_dns_feed(&ctx, flags & ~(unsigned)CUT, data, length / 2);
		fuzz_dns_feed(&ctx, flags, data, length);
		data += length;
		size -= length;
		ctx.now += (flags & LATER) != 0 ? UINT64_C(2000000000) : 1000;
		if (dns_reader.next_timeout(ctx.shared) <= ctx.now)
			dns_reader.on_time(&ctx);
		must(dns_requests_counters(ctx.shared)->now <= DNS_REQUESTS_MAX);
	}
	dns_reader.close(ctx.shared);
	free(ctx.state);
	return 0;
}
