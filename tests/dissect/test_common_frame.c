/* SPDX-License-Identifier: BSD-2-Clause */
/* The common-frame path records exactly what the layers record, and so does a glance: for every frame of every capture,
 * cut at any byte, and with any byte changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <pcap/pcap.h>

#include "dissect/header_fields.h"
#include "dissect/peek.h"

#define BYTES_CHANGED 110u /* of each frame: all headers of the usual path, and some more */

static struct {
	unsigned long frames, usual, glances[PEEK_UDP + 1];
	char name[256];
} seen;

/* Views and cursors have padding, which need not be written. */
static void
clean(struct packet *p)
{
	struct slice *const slices[] = {&p->ether.header, &p->ip.header, &p->ip.options};
	struct cursor *const cursors[] = {&p->datagram, &p->payload};

	for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
		struct slice v = *slices[i];

		memset(slices[i], 0, sizeof *slices[i]);
		slices[i]->at = v.at;
		slices[i]->len = v.len;
	}
	for (size_t i = 0; i < sizeof cursors / sizeof cursors[0]; i++) {
		struct cursor c = *cursors[i];

		memset(cursors[i], 0, sizeof *cursors[i]);
		cursors[i]->at = c.at;
		cursors[i]->captured = c.captured;
		cursors[i]->wire = c.wire;
		cursors[i]->error = c.error;
	}
	if (p->transport == TRANSPORT_TCP) {
		struct slice v = p->tcp.header;

		memset(&p->tcp.header, 0, sizeof p->tcp.header);
		p->tcp.header.at = v.at;
		p->tcp.header.len = v.len;
	}
}

/* Of `ip` and the union only what `network` and `transport` name has to be equal. */
static bool
same(struct packet *a, struct packet *b)
{
	static const struct ip_layer no_ip;

	clean(a);
	clean(b);
	if (a->network != NETWORK_IPV4 && a->network != NETWORK_IPV6)
		a->ip = b->ip = no_ip;
	if (a->transport != TRANSPORT_TCP && a->network != NETWORK_ARP) {
		size_t offset = offsetof(struct packet, tcp);

		memcpy((uint8_t *)a + offset, (uint8_t *)b + offset, offsetof(struct packet, datagram) - offset);
	}
	return memcmp(a, b, sizeof *a) == 0;
}

/* As another packet may have left it. */
static void
spoil(struct packet *p)
{
	p->direction = DIRECTION_OUT;
	p->loopback = true;
	p->ifindex = 7;
	p->network = NETWORK_ARP;
	p->transport = TRANSPORT_ICMP;
	p->worst_anomaly = ANOMALY_LAYER_BUDGET;
	p->anomalies = (struct anomaly_set){{1, 1}};
	p->layers_spent = 5;
	p->ether.tagged = true;
	p->ether.priority = p->ether.dei = 1;
	p->ether.vlan = 9;
	p->datagram.error = p->payload.error = CURSOR_SHORT;
	p->payload_wire = 11;
	p->inner = INNER_IP;
	p->inner_type = 13;
}

static bool
same_key(const struct frame_peek *g, const struct packet *p)
{
	size_t length = g->version == 4 ? 4 : 16;

	return p->worst_anomaly < ANOMALY_COUNT && g->version == p->ip.version && g->protocol == p->ip.protocol &&
	       memcmp(g->src, p->ip.src, length) == 0 && memcmp(g->dst, p->ip.dst, length) == 0;
}

/* A packet that a glance does not handle may always be dissected. */
static bool
same_at_a_glance(enum peek_kind kind, const struct frame_peek *g, const struct packet *p)
{
	const struct tcp_layer *t = &p->tcp;
	bool plain = p->worst_anomaly == ANOMALY_NONE && p->inner == INNER_NONE && !p->ip.fragment &&
		     g->payload_wire == p->payload_wire;

	switch (kind) {
	case PEEK_NONE:
		return true;
	case PEEK_TUPLE:
		if (!same_key(g, p) || p->ip.fragment)
			return false;
		if (p->transport == TRANSPORT_TCP)
			return g->sport == t->sport && g->dport == t->dport;
		if (p->transport == TRANSPORT_UDP)
			return g->sport == p->udp.sport && g->dport == p->udp.dport;
		return p->transport == TRANSPORT_NONE && p->worst_anomaly != ANOMALY_NONE;
	case PEEK_TCP:
		return same_key(g, p) && plain && p->transport == TRANSPORT_TCP && g->sport == t->sport &&
		       g->dport == t->dport && g->seq == t->seq && g->ack == t->ack && g->window == t->window &&
		       (t->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) == TCP_ACK &&
		       (t->options & ~TCP_OPTION_TIMESTAMPS) == 0;
	case PEEK_UDP:
		return same_key(g, p) && plain && p->transport == TRANSPORT_UDP && g->sport == p->udp.sport &&
		       g->dport == p->udp.dport;
	}
	return false;
}

static void
glance_too(const struct frame *frame, const char *what, uint32_t at)
{
	struct frame_peek peek = {0};
	enum peek_kind kind = peek_frame(&peek, frame);
	struct packet packet;

	seen.glances[kind]++;
	dissect_layers(frame, &packet);
	if (!same_at_a_glance(kind, &peek, &packet))
		fail_msg("%s looks otherwise at a glance, frame %lu, %s %u", seen.name, seen.frames, what,
			 (unsigned)at);
}

static void
compare(const struct frame *frame, const char *what, uint32_t at)
{
	struct packet usual, layers;

	memset(&usual, 0, sizeof usual);
	memset(&layers, 0, sizeof layers);
	spoil(&usual);
	seen.frames++;
	glance_too(frame, what, at);
	if (!dissect_common_frame(&usual, frame))
		return;
	seen.usual++;
	dissect_layers(frame, &layers);
	if (!same(&usual, &layers))
		fail_msg("%s differs, frame %lu, %s %u", seen.name, seen.frames, what, (unsigned)at);
}

/* One frame, in memory of its exact size, so that a sanitizer sees what is read beyond it. */
static void
try_frame(const struct pcap_pkthdr *header, const u_char *data)
{
	static const struct interface nowhere;
	static const uint8_t changes[] = {0x01, 0x10, 0x80, 0xff};
	uint8_t *copy = malloc(header->caplen + 1u);
	struct frame frame = {.data = copy, .interface = &nowhere, .caplen = header->caplen, .len = header->len,
			      .dlt = DLT_EN10MB};

	assert_non_null(copy);
	memcpy(copy, data, header->caplen);
	compare(&frame, "whole", 0);
	for (uint32_t at = 0; at < header->caplen && at < BYTES_CHANGED; at++) {
		for (size_t i = 0; i < sizeof changes; i++) {
			copy[at] ^= changes[i];
			compare(&frame, "changed at", at);
			copy[at] ^= changes[i];
		}
	}
	free(copy);
	for (uint32_t have = 0; have < header->caplen && have < BYTES_CHANGED; have++) {
		copy = malloc(have + 1u);
		assert_non_null(copy);
		memcpy(copy, data, have);
		frame.data = copy;
		frame.caplen = have;
		compare(&frame, "snapped to", have);
		frame.len = have;
		compare(&frame, "cut to", have);
		frame.len = header->len;
		free(copy);
	}
}

static void
try_capture(const char *directory, const char *name)
{
	char path[1024], why[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *data;
	pcap_t *pcap;

	snprintf(seen.name, sizeof seen.name, "%s", name);
	snprintf(path, sizeof path, "%s/%s", directory, name);
	pcap = pcap_open_offline(path, why);
	if (pcap == NULL)
		return;
	while (pcap_datalink(pcap) == DLT_EN10MB && pcap_next_ex(pcap, &header, &data) == 1)
		try_frame(header, data);
	pcap_close(pcap);
}

static void
test_every_capture(void **state)
{
	char directory[512];
	struct dirent *entry;
	DIR *dir;

	(void)state;
	snprintf(directory, sizeof directory, "%s/tests/captures", getenv("top_srcdir"));
	dir = opendir(directory);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		if (strstr(entry->d_name, ".pcap") != NULL)
			try_capture(directory, entry->d_name);
	closedir(dir);
	assert_true(seen.frames > 100000);
	assert_true(seen.usual > 10000);
	assert_true(seen.glances[PEEK_TUPLE] > 1000);
	assert_true(seen.glances[PEEK_TCP] > 10000);
	assert_true(seen.glances[PEEK_UDP] > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_capture)};

	return cmocka_run_group_tests_name("usual", tests, NULL, NULL);
}
