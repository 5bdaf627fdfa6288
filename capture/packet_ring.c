/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/packet_ring.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <pcap/sll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "flow/flow.h"

/* Where the address of a frame's sender follows the header of the frame: TPACKET_ALIGN() without its sign. */
#define ADDRESS_OFFSET ((sizeof(struct tpacket3_hdr) + TPACKET_ALIGNMENT - 1) & ~(TPACKET_ALIGNMENT - 1ul))

/* How far ahead of a frame the ring is prefetched: some small frames.  Three cache lines are the kernel's header of
 * such a frame and the frame. */
#define RING_PREFETCH_BYTES 1024
#define RING_PREFETCH_LINES 3

/* A VLAN tag: two bytes each of protocol and of tag control information (IEEE 802.1Q). */
#define VLAN_TAG_BYTES	   4
#define ETHERNET_ADDRESSES (2 * ETH_ALEN)

struct packet_ring {
	uint8_t *memory;
	struct ring_geometry geometry;
	int fd;
	int dlt;
	uint32_t snapshot;	   /* longest frame, bytes */
	int loopback;		   /* index of the loopback interface */
	uint32_t block;		   /* number of the present block */
	const uint8_t *next_frame; /* in the present block; NULL: no frame of it has been taken */
	uint32_t frames_left;	   /* in the present block, if next_frame is set */
};

static size_t
packet_ring_size(const struct packet_ring *ring)
{
	return (size_t)ring->geometry.block_size * ring->geometry.block_count;
}

static struct tpacket_block_desc *
packet_ring_block(const struct packet_ring *ring)
{
	return (struct tpacket_block_desc *)(void *)(ring->memory + (size_t)ring->block * ring->geometry.block_size);
}

/* The acquire makes visible what the kernel has written into a block before it passed the block on. */
bool
packet_ring_is_ready(const struct packet_ring *ring)
{
	const struct tpacket_block_desc *block = packet_ring_block(ring);

	return (__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

/* --- mapping --- */

static bool
packet_ring_is_supported(pcap_t *pcap, const struct ring_geometry *geometry)
{
	int version = 0, fd = pcap_get_selectable_fd(pcap), dlt = pcap_datalink(pcap);
	socklen_t length = sizeof version;

	/* An SLL2 header of 20 bytes fits in front of a cooked frame: the kernel leaves 16 besides the reserve. */
	return (dlt == DLT_EN10MB || dlt == DLT_LINUX_SLL2) && geometry->reserve >= VLAN_TAG_BYTES &&
	       geometry->block_size > sizeof(struct tpacket_block_desc) && geometry->block_count > 0 &&
	       getsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, &length) == 0 && version == TPACKET_V3;
}

struct packet_ring *
packet_ring_map(pcap_t *pcap, struct ring_geometry *geometry)
{
	struct packet_ring *ring;

	if (geometry->block_size == 0 && !ring_geometry_query(pcap_get_selectable_fd(pcap), geometry))
		*geometry = (struct ring_geometry){0};
	if (!packet_ring_is_supported(pcap, geometry))
		return NULL;
	ring = calloc(1, sizeof *ring);
	if (ring == NULL)
		return NULL;
	ring->geometry = *geometry;
	ring->fd = pcap_get_selectable_fd(pcap);
	ring->dlt = pcap_datalink(pcap);
	ring->snapshot = (uint32_t)pcap_snapshot(pcap);
	ring->loopback = (int)if_nametoindex("lo");
	/* The kernel refuses a size that is not exactly that of the ring. */
	ring->memory = mmap(NULL, packet_ring_size(ring), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (ring->memory == MAP_FAILED) {
		free(ring);
		return NULL;
	}
	return ring;
}

void
packet_ring_unmap(struct packet_ring *ring)
{
	if (ring == NULL)
		return;
	munmap(ring->memory, packet_ring_size(ring));
	free(ring);
}

/* --- frames --- */

/* Whether the frame comes a second time: the kernel delivers each one of the loopback interface, and of a CAN bus, as
 * sent and as received. */
static bool
packet_ring_is_loopback_copy(const struct packet_ring *ring, const struct sockaddr_ll *from)
{
	return from->sll_pkttype == PACKET_OUTGOING &&
	       (from->sll_ifindex == ring->loopback || from->sll_hatype == ARPHRD_CAN);
}

/* Moves the addresses of the Ethernet header to the front and puts the tag after them. */
static void
packet_ring_insert_vlan_tag(const struct tpacket3_hdr *header, struct frame *frame)
{
	uint8_t *data = (uint8_t *)(uintptr_t)frame->data - VLAN_TAG_BYTES;
	uint16_t tag[2] = {htons(ETH_P_8021Q), htons((uint16_t)header->hv1.tp_vlan_tci)};

	if ((header->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0)
		tag[0] = htons(header->hv1.tp_vlan_tpid);
	memmove(data, frame->data, ETHERNET_ADDRESSES);
	memcpy(data + ETHERNET_ADDRESSES, tag, sizeof tag);
	frame->data = data;
	frame->caplen += VLAN_TAG_BYTES;
	frame->len += VLAN_TAG_BYTES;
}

static void
packet_ring_add_sll2_header(const struct sockaddr_ll *from, struct frame *frame)
{
	struct sll2_header sll2 = {
	    .sll2_protocol = from->sll_protocol,
	    .sll2_if_index = htonl((uint32_t)from->sll_ifindex),
	    .sll2_hatype = htons(from->sll_hatype),
	    .sll2_pkttype = from->sll_pkttype,
	    .sll2_halen = from->sll_halen,
	};
	uint8_t *data = (uint8_t *)(uintptr_t)frame->data - sizeof sll2;

	memcpy(sll2.sll2_addr, from->sll_addr, sizeof sll2.sll2_addr);
	memcpy(data, &sll2, sizeof sll2);
	frame->data = data;
	frame->caplen += sizeof sll2;
	frame->len += sizeof sll2;
}

/* Fills in the frame whose header is at `at`; false if the frame is a copy. */
static bool
packet_ring_make_frame(const struct packet_ring *ring, const uint8_t *at, struct frame *frame)
{
	const struct tpacket3_hdr *header = (const struct tpacket3_hdr *)(const void *)at;
	const struct sockaddr_ll *from = (const struct sockaddr_ll *)(const void *)(at + ADDRESS_OFFSET);

	if (packet_ring_is_loopback_copy(ring, from))
		return false;
	frame->data = at + header->tp_mac;
	frame->ts = (uint64_t)header->tp_sec * NANOSECONDS + header->tp_nsec;
	frame->caplen = header->tp_snaplen;
	frame->len = header->tp_len;
	frame->dlt = ring->dlt;
	if (ring->dlt == DLT_LINUX_SLL2)
		packet_ring_add_sll2_header(from, frame);
	else if (__builtin_expect((header->tp_status & TP_STATUS_VLAN_VALID) != 0, 0) &&
		 frame->caplen >= ETHERNET_ADDRESSES)
		packet_ring_insert_vlan_tag(header, frame);
	if (frame->caplen > ring->snapshot)
		frame->caplen = ring->snapshot;
	return true;
}

unsigned
packet_ring_take(struct packet_ring *ring, struct frame *frames, unsigned most)
{
	const struct tpacket_block_desc *block = packet_ring_block(ring);
	unsigned count = 0;

	if (ring->next_frame == NULL) {
		ring->next_frame = (const uint8_t *)block + block->hdr.bh1.offset_to_first_pkt;
		ring->frames_left = block->hdr.bh1.num_pkts;
	}
	while (count < most && ring->frames_left > 0) {
		const struct tpacket3_hdr *header = (const struct tpacket3_hdr *)(const void *)ring->next_frame;

		for (unsigned line = 0; line < RING_PREFETCH_LINES; line++)
			__builtin_prefetch(ring->next_frame + RING_PREFETCH_BYTES + 64 * line);
		count += packet_ring_make_frame(ring, ring->next_frame, &frames[count]);
		ring->next_frame += header->tp_next_offset;
		ring->frames_left--;
	}
	return count;
}

static void
packet_ring_give_block(struct packet_ring *ring)
{
	struct tpacket_block_desc *block = packet_ring_block(ring);

	ring->next_frame = NULL;
	ring->block = (ring->block + 1) % ring->geometry.block_count;
	__atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
}

void
packet_ring_release(struct packet_ring *ring)
{
	if (ring->next_frame != NULL && ring->frames_left == 0)
		packet_ring_give_block(ring);
}

void
packet_ring_discard(struct packet_ring *ring)
{
	for (uint32_t i = 0; i < ring->geometry.block_count && packet_ring_is_ready(ring); i++)
		packet_ring_give_block(ring);
}

/* Reads the pending error, so that the socket is no longer reported as ready.  ENETDOWN comes once, when the interface
 * goes down, also if it is removed later; the removal sets the bound index to -1, so the index decides. */
bool
packet_ring_check(struct packet_ring *ring)
{
	struct sockaddr_ll bound = {0};
	socklen_t error_length = sizeof(int), length = sizeof bound;
	int error;

	(void)getsockopt(ring->fd, SOL_SOCKET, SO_ERROR, &error, &error_length);
	return getsockname(ring->fd, (struct sockaddr *)&bound, &length) < 0 || bound.sll_ifindex >= 0;
}
