/* SPDX-License-Identifier: BSD-2-Clause */
/* The path for common frames records what the layers record, to the last bit, and the peek reads the same values: every
 * frame of every capture, cut at any byte, and with any byte changed; the peek after every link header, too. */
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

#define BYTES_CHANGED 110u /* of each frame: all headers of the path for common frames, and some more */

/* Link headers before an IP packet, all for IPv4 but that of the version given. */
static const struct link_header {
	int dlt;
	uint8_t version, length;
	uint8_t bytes[22];
} link_headers[] = {
	{DLT_LINUX_SLL, 4, 16, {0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0}},
	{DLT_LINUX_SLL, 6, 16, {0, 0, 3, 4, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x86, 0xdd}},
	{DLT_LINUX_SLL2, 4, 20, {8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1}},
	{DLT_LINUX_SLL2, 6, 20, {0x86, 0xdd, 0, 0, 0, 0, 0, 1, 3, 4, 4, 6}},
	{DLT_LINUX_SLL2, 4, 20, {8, 0, 0, 0, 0, 0, 0, 3, 3, 0x38, 3, 6}},
	{DLT_NULL, 4, 4, {2, 0, 0, 0}},
	{DLT_LOOP, 6, 4, {0, 0, 0, 24}},
	{DLT_RAW, 4, 0, {0}},
	{DLT_RAW_FILE, 6, 0, {0}},
	{DLT_RAW_OPENBSD, 4, 0, {0}},
	{DLT_IPV4, 4, 0, {0}},
	{DLT_IPV6, 6, 0, {0}},
	{DLT_EN10MB, 4, 18, {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 7, 8, 0}},
	{DLT_EN10MB, 6, 22, {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 0x86, 0xdd}},
};

#define LINK_TYPES (1 + sizeof link_headers / sizeof link_headers[0]) /* the first: as captured */

static struct {
	unsigned long frames, usual, peeks[LINK_TYPES][PEEK_UDP + 1];
	char name[256];
} seen;

/* Slices and cursors have padding, which need not be written. */
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

/* Fills the packet as an earlier packet may have left it. */
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
tuple_equal(const struct frame_peek *peek, const struct packet *p)
{
	size_t length = peek->version == 4 ? 4 : 16;

	return p->worst_anomaly < ANOMALY_COUNT && peek->version == p->ip.version && peek->protocol == p->ip.protocol &&
	       memcmp(peek->src, p->ip.src, length) == 0 && memcmp(peek->dst, p->ip.dst, length) == 0;
}

static bool
ports_equal(const struct frame_peek *peek, const struct packet *p)
{
	switch (p->transport) {
	case TRANSPORT_TCP:
		return peek->sport == p->tcp.sport && peek->dport == p->tcp.dport;
	case TRANSPORT_UDP:
		return peek->sport == p->udp.sport && peek->dport == p->udp.dport;
	case TRANSPORT_SCTP:
		return peek->sport == p->sctp.sport && peek->dport == p->sctp.dport;
	default:
		return p->transport == TRANSPORT_NONE && p->worst_anomaly != ANOMALY_NONE;
	}
}

/* PEEK_NONE is always right: such a frame is dissected. */
static bool
peek_agrees(enum peek_kind kind, const struct frame_peek *peek, const struct packet *p)
{
	const struct tcp_layer *t = &p->tcp;
	bool plain =
	    p->worst_anomaly == ANOMALY_NONE && p->inner == INNER_NONE && peek->payload_wire == p->payload_wire;

	if (peek->direction != p->direction || peek->loopback != p->loopback)
		return false;
	if (kind == PEEK_NONE)
		return true;
	if (!tuple_equal(peek, p) || p->ip.fragment || !ports_equal(peek, p))
		return false;
	if (kind == PEEK_TCP || kind == PEEK_FIN)
		return plain && p->transport == TRANSPORT_TCP && peek->seq == t->seq && peek->ack == t->ack &&
		       peek->window == t->window && peek_tsval(peek) == t->tsval && peek_tsecr(peek) == t->tsecr &&
		       peek_send_stamp(peek) == packet_send_stamp(p) &&
		       (t->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) ==
			   (kind == PEEK_FIN ? TCP_FIN | TCP_ACK : TCP_ACK) &&
		       (t->options & ~TCP_OPTION_TIMESTAMPS) == 0;
	return kind == PEEK_TUPLE || kind == PEEK_SEGMENT || (plain && p->transport == TRANSPORT_UDP);
}

/* Whether peek_record_packet() records what dissect_frame() does. */
static bool
record_agrees(const struct frame *frame, const struct frame_peek *peek, enum peek_kind kind, struct packet *p)
{
	struct packet recorded;

	memset(&recorded, 0, sizeof recorded);
	spoil(&recorded);
	peek_record_packet(&recorded, frame, peek, kind);
	clean(&recorded);
	clean(p);
	return recorded.frame == p->frame && recorded.direction == p->direction && recorded.loopback == p->loopback &&
	       recorded.network == p->network && recorded.transport == p->transport && recorded.inner == p->inner &&
	       recorded.payload_wire == p->payload_wire && recorded.worst_anomaly == p->worst_anomaly &&
	       memcmp(&recorded.anomalies, &p->anomalies, sizeof p->anomalies) == 0 &&
	       recorded.ip.version == p->ip.version && recorded.ip.fragment == p->ip.fragment &&
	       recorded.ip.fragment_id == p->ip.fragment_id &&
	       memcmp(recorded.ip.src, p->ip.src, sizeof p->ip.src) == 0 &&
	       memcmp(recorded.ip.dst, p->ip.dst, sizeof p->ip.dst) == 0 &&
	       (kind == PEEK_UDP || memcmp(&recorded.tcp, &p->tcp, sizeof p->tcp) == 0);
}

static void
compare_peek(const struct frame *frame, size_t link, const char *what, uint32_t at)
{
	struct frame_peek peek = {0};
	enum peek_kind kind = peek_frame(&peek, frame);
	struct packet packet;

	seen.peeks[link][kind]++;
	memset(&packet, 0, sizeof packet);
	dissect_layers(frame, &packet);
	if (!peek_agrees(kind, &peek, &packet))
		fail_msg("%s: the peek differs, frame %lu, link %zu, %s %u", seen.name, seen.frames, link, what,
			 (unsigned)at);
	if (kind >= PEEK_SEGMENT && !record_agrees(frame, &peek, kind, &packet))
		fail_msg("%s: the record of the peek differs, frame %lu, link %zu, %s %u", seen.name, seen.frames, link,
			 what, (unsigned)at);
}

/* The same IP packet after another link header; in memory of its exact size. */
static void
compare_after(const struct frame *frame, size_t link, const char *what, uint32_t at)
{
	const struct link_header *header = &link_headers[link - 1];
	uint32_t drop = ETHER_HEADER_LEN, keep = frame->caplen - drop, size = header->length + keep;
	struct frame other = *frame;
	uint8_t *copy = malloc(size + 1u);

	assert_non_null(copy);
	memcpy(copy, header->bytes, header->length);
	memcpy(copy + header->length, frame->data + drop, keep);
	other.dlt = header->dlt;
	other.data = copy;
	other.caplen = size;
	other.len = frame->len - drop + header->length;
	compare_peek(&other, link, what, at);
	/* Any byte of the link header changed, one a call. */
	if (header->length > 0) {
		copy[(at + seen.frames) % header->length] ^= (uint8_t)(1u << seen.frames % 8);
		compare_peek(&other, link, "with another link header,", at);
	}
	free(copy);
}

static void
compare_all_links(const struct frame *frame, const char *what, uint32_t at)
{
	compare_peek(frame, 0, what, at);
	if (frame->caplen < ETHER_HEADER_LEN || frame->len < frame->caplen)
		return;
	for (size_t link = 1; link < LINK_TYPES; link++)
		if (frame->data[12] == (link_headers[link - 1].version == 4 ? 0x08 : 0x86))
			compare_after(frame, link, what, at);
}

static void
compare(const struct frame *frame, const char *what, uint32_t at)
{
	struct packet usual, layers;

	memset(&usual, 0, sizeof usual);
	memset(&layers, 0, sizeof layers);
	spoil(&usual);
	seen.frames++;
	compare_all_links(frame, what, at);
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
	assert_true(seen.peeks[0][PEEK_TUPLE] > 1000);
	assert_true(seen.peeks[0][PEEK_SEGMENT] > 10000);
	assert_true(seen.peeks[0][PEEK_FIN] > 1000);
	assert_true(seen.peeks[0][PEEK_TCP] > 10000);
	assert_true(seen.peeks[0][PEEK_UDP] > 1000);
	for (size_t link = 1; link < LINK_TYPES; link++) {
		bool ipv6 = link_headers[link - 1].version == 6; /* less of it is in the captures */

		assert_true(seen.peeks[link][PEEK_TUPLE] > (ipv6 ? 10 : 1000));
		assert_true(seen.peeks[link][PEEK_SEGMENT] > (ipv6 ? 500 : 10000));
		assert_true(seen.peeks[link][PEEK_FIN] > (ipv6 ? 500 : 1000));
		assert_true(seen.peeks[link][PEEK_TCP] > (ipv6 ? 500 : 10000));
		assert_true(seen.peeks[link][PEEK_UDP] > (ipv6 ? 100 : 1000));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_capture)};

	return cmocka_run_group_tests_name("usual", tests, NULL, NULL);
}
