/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/packet_ring.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <pcap/sll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

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

/* --- the geometry of rings --- */

#define REPLY_BYTES   32768 /* the kernel's limit for one message of a dump */
#define REPLY_SECONDS 1

/* Search for a socket in the kernel's list of packet sockets, and its result. */
struct geometry_search {
	uint32_t inode;
	bool found;
	struct ring_geometry geometry;
};

static bool
ring_geometry_request(struct mnl_socket *netlink)
{
	_Alignas(struct nlmsghdr) char bytes[256];
	struct nlmsghdr *header = mnl_nlmsg_put_header(bytes);
	struct packet_diag_req *request;

	header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	request = mnl_nlmsg_put_extra_header(header, sizeof *request);
	request->sdiag_family = AF_PACKET;
	request->pdiag_show = PACKET_SHOW_INFO | PACKET_SHOW_RING_CFG;
	/* No address means the kernel; the system-call filter rejects addresses. */
	return send(mnl_socket_get_fd(netlink), header, header->nlmsg_len, 0) == (ssize_t)header->nlmsg_len;
}

/* Attributes that the kernel reports of a socket; NULL: missing. */
struct geometry_attributes {
	const struct packet_diag_info *info;
	const struct packet_diag_ring *ring;
};

static int
ring_geometry_parse_attribute(const struct nlattr *attribute, void *context)
{
	struct geometry_attributes *found = context;
	uint16_t length = mnl_attr_get_payload_len(attribute);

	if (mnl_attr_get_type(attribute) == PACKET_DIAG_INFO && length >= sizeof *found->info)
		found->info = mnl_attr_get_payload(attribute);
	if (mnl_attr_get_type(attribute) == PACKET_DIAG_RX_RING && length >= sizeof *found->ring)
		found->ring = mnl_attr_get_payload(attribute);
	return MNL_CB_OK;
}

static int
ring_geometry_parse(const struct nlmsghdr *header, void *context)
{
	const struct packet_diag_msg *message = mnl_nlmsg_get_payload(header);
	struct geometry_attributes found = {0};
	struct geometry_search *search = context;

	if (mnl_nlmsg_get_payload_len(header) < sizeof *message || message->pdiag_ino != search->inode ||
	    mnl_attr_parse(header, sizeof *message, ring_geometry_parse_attribute, &found) < 0)
		return MNL_CB_OK;
	if (found.info == NULL || found.ring == NULL || found.info->pdi_version != TPACKET_V3)
		return MNL_CB_OK;
	search->found = true;
	search->geometry = (struct ring_geometry){
	    .block_size = found.ring->pdr_block_size,
	    .block_count = found.ring->pdr_block_nr,
	    .reserve = found.info->pdi_reserve,
	};
	return MNL_CB_OK;
}

static bool
ring_geometry_search(struct mnl_socket *netlink, struct geometry_search *search)
{
	_Alignas(struct nlmsghdr) char reply[REPLY_BYTES];
	int result = MNL_CB_OK;

	while (result == MNL_CB_OK) {
		ssize_t length = mnl_socket_recvfrom(netlink, reply, sizeof reply);

		if (length <= 0)
			return false;
		result = mnl_cb_run(reply, (size_t)length, 0, 0, ring_geometry_parse, search);
	}
	return result != MNL_CB_ERROR && search->found;
}

/*
 * Queries the kernel for the ring of the packet socket `fd`.  False if the socket has no ring of version 3, or if there
 * is not a reply: Linux without packet_diag, or a system-call filter that rejects the request.
 */
static bool
ring_geometry_query(int fd, struct ring_geometry *geometry)
{
	const struct timeval limit = {.tv_sec = REPLY_SECONDS};
	struct geometry_search search = {.found = false};
	struct mnl_socket *netlink;
	struct stat status;
	bool found;

	if (fstat(fd, &status) < 0)
		return false;
	search.inode = (uint32_t)status.st_ino;
	netlink = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (netlink == NULL)
		return false;
	found = mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) == 0 &&
		setsockopt(mnl_socket_get_fd(netlink), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
		ring_geometry_request(netlink) && ring_geometry_search(netlink, &search);
	mnl_socket_close(netlink);
	*geometry = search.geometry;
	return found;
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
