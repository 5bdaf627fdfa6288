/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring is read in place: a file takes the place of the kernel's memory, and the test that of the kernel, which fills
 * blocks and passes them on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <pcap/pcap.h>
#include <pcap/sll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/packet_ring.h"

enum {
	BLOCK_SIZE = 4096,
	BLOCKS = 3,
	FIRST_FRAME = 48, /* offset in a block */
	STEP = 256,	  /* between two frames */
	SENDER = 48,	  /* offset of the address in a frame */
	MAC = 112,	  /* offset of the bytes */
	LOOPBACK = 1,
	OTHER = 7, /* another interface */
};

static int fd = -1, dlt, snapshot, version, socket_error, bound_ifindex;
static unsigned replies_left; /* sockets that the kernel lists */
static uint8_t *memory;
static struct packet_ring *ring;

/* These replace libpcap's and libc's functions. */
int
pcap_get_selectable_fd(pcap_t *pcap)
{
	(void)pcap;
	return fd;
}

int
pcap_datalink(pcap_t *pcap)
{
	(void)pcap;
	return dlt;
}

int
pcap_snapshot(pcap_t *pcap)
{
	(void)pcap;
	return snapshot;
}

unsigned
if_nametoindex(const char *name)
{
	return strcmp(name, "lo") == 0 ? LOOPBACK : OTHER;
}

int
getsockopt(int socket, int level, int option, void *restrict value, socklen_t *restrict length)
{
	assert_int_equal(socket, fd);
	assert_int_equal(*length, sizeof(int));
	if (level == SOL_SOCKET) {
		assert_int_equal(option, SO_ERROR);
		memcpy(value, &socket_error, sizeof socket_error);
		socket_error = 0;
	} else {
		assert_int_equal(option, PACKET_VERSION);
		memcpy(value, &version, sizeof version);
	}
	return 0;
}

int
getsockname(int socket, struct sockaddr *restrict address, socklen_t *restrict length)
{
	const struct sockaddr_ll bound = {.sll_family = AF_PACKET, .sll_ifindex = bound_ifindex};

	assert_int_equal(socket, fd);
	assert_true(*length >= sizeof bound);
	memcpy(address, &bound, sizeof bound);
	return 0;
}

int
setsockopt(int socket, int level, int option, const void *value, socklen_t length)
{
	(void)socket;
	(void)value;
	(void)length;
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(option, SO_RCVTIMEO);
	return 0;
}

/* ------------------------------------------------------------------------------------- the kernel's list of sockets */

/* These replace libmnl's functions of a netlink socket, and send(): the kernel replies to one request with two sockets,
 * of which the second is that of the ring. */
static struct mnl_socket *const netlink = (struct mnl_socket *)(void *)&replies_left;

struct mnl_socket *
mnl_socket_open2(int bus, int flags)
{
	assert_int_equal(bus, NETLINK_SOCK_DIAG);
	assert_int_equal(flags, SOCK_CLOEXEC);
	return netlink;
}

int
mnl_socket_bind(struct mnl_socket *socket, unsigned groups, pid_t pid)
{
	assert_ptr_equal(socket, netlink);
	assert_int_equal(groups, 0);
	assert_int_equal(pid, MNL_SOCKET_AUTOPID);
	return 0;
}

int
mnl_socket_get_fd(const struct mnl_socket *socket)
{
	assert_ptr_equal(socket, netlink);
	return -1;
}

int
mnl_socket_close(struct mnl_socket *socket)
{
	assert_ptr_equal(socket, netlink);
	return 0;
}

ssize_t
send(int socket, const void *request, size_t length, int flags)
{
	const struct nlmsghdr *header = request;

	(void)socket;
	assert_int_equal(header->nlmsg_type, SOCK_DIAG_BY_FAMILY);
	assert_int_equal(header->nlmsg_len, length);
	assert_int_equal(flags, 0);
	replies_left = 2;
	return (ssize_t)length;
}

ssize_t
mnl_socket_recvfrom(const struct mnl_socket *socket, void *reply, size_t size)
{
	const struct packet_diag_info info = {.pdi_version = TPACKET_V3, .pdi_reserve = 4};
	const struct packet_diag_ring config = {.pdr_block_size = BLOCK_SIZE, .pdr_block_nr = BLOCKS};
	struct nlmsghdr *header = mnl_nlmsg_put_header(reply);
	struct packet_diag_msg *message;
	struct stat status;

	assert_ptr_equal(socket, netlink);
	assert_true(size >= 4096);
	if (replies_left == 0) {
		header->nlmsg_type = NLMSG_DONE;
		mnl_nlmsg_put_extra_header(header, sizeof(int));
		return (ssize_t)header->nlmsg_len;
	}
	assert_int_equal(fstat(fd, &status), 0);
	header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	message = mnl_nlmsg_put_extra_header(header, sizeof *message);
	message->pdiag_ino = (uint32_t)status.st_ino + (replies_left == 2);
	mnl_attr_put(header, PACKET_DIAG_INFO, sizeof info, &info);
	if (replies_left == 1)
		mnl_attr_put(header, PACKET_DIAG_RX_RING, sizeof config, &config);
	replies_left--;
	return (ssize_t)header->nlmsg_len;
}

/* ------------------------------------------------------------------------------------------------------ the kernel */

static struct tpacket_block_desc *
block_at(unsigned block)
{
	return (struct tpacket_block_desc *)(void *)(memory + (size_t)block * BLOCK_SIZE);
}

/* A frame in a block, with `length` bytes that count up from `first`.  Its sender can be changed. */
static struct tpacket3_hdr *
put_frame(unsigned block, uint8_t first, uint32_t length)
{
	unsigned number = block_at(block)->hdr.bh1.num_pkts++;
	uint8_t *at = memory + (size_t)block * BLOCK_SIZE + FIRST_FRAME + (size_t)number * STEP;
	struct tpacket3_hdr *header = (struct tpacket3_hdr *)(void *)at;

	*header = (struct tpacket3_hdr){
	    .tp_next_offset = STEP,
	    .tp_sec = 4000000000u, /* after 2038 */
	    .tp_nsec = 5,
	    .tp_snaplen = length,
	    .tp_len = length,
	    .tp_mac = MAC,
	};
	for (uint32_t i = 0; i < length; i++)
		at[MAC + i] = (uint8_t)(first + i);
	return header;
}

static struct sockaddr_ll *
sender_of(struct tpacket3_hdr *header)
{
	struct sockaddr_ll *sender = (struct sockaddr_ll *)(void *)((uint8_t *)header + SENDER);

	*sender = (struct sockaddr_ll){.sll_ifindex = OTHER, .sll_hatype = ARPHRD_ETHER};
	return sender;
}

static void
pass_block(unsigned block)
{
	struct tpacket_block_desc *desc = block_at(block);

	desc->hdr.bh1.offset_to_first_pkt = FIRST_FRAME;
	__atomic_store_n(&desc->hdr.bh1.block_status, TP_STATUS_USER | TP_STATUS_BLK_TMO, __ATOMIC_RELEASE);
}

static bool
kernel_owns(unsigned block)
{
	return block_at(block)->hdr.bh1.block_status == TP_STATUS_KERNEL;
}

static void
open_ring(int link_type)
{
	struct ring_geometry geometry = {0};

	dlt = link_type;
	ring = packet_ring_map(NULL, &geometry);
	assert_non_null(ring);
	assert_int_equal(geometry.block_size, BLOCK_SIZE);
	assert_int_equal(geometry.block_count, BLOCKS);
	assert_int_equal(geometry.reserve, 4);
	assert_int_equal(replies_left, 0);
}

static int
setup(void **state)
{
	(void)state;
	version = TPACKET_V3;
	snapshot = 65535;
	socket_error = 0;
	bound_ifindex = OTHER;
	fd = memfd_create("ring", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, BLOCKS * BLOCK_SIZE), 0);
	memory = mmap(NULL, BLOCKS * BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED;
}

static int
teardown(void **state)
{
	(void)state;
	packet_ring_unmap(ring);
	ring = NULL;
	munmap(memory, BLOCKS * BLOCK_SIZE);
	return close(fd);
}

/* ------------------------------------------------------------------------------------------------------- the tests */

static void
test_unsupported(void **state)
{
	struct ring_geometry geometry = {.block_size = BLOCK_SIZE, .block_count = BLOCKS, .reserve = 3};

	(void)state;
	dlt = DLT_EN10MB;
	assert_null(packet_ring_map(NULL, &geometry)); /* no space for a VLAN tag */
	geometry.reserve = 4;
	version = TPACKET_V2;
	assert_null(packet_ring_map(NULL, &geometry));
	version = TPACKET_V3;
	dlt = DLT_RAW;
	assert_null(packet_ring_map(NULL, &geometry));
}

static void
test_frames(void **state)
{
	struct frame frames[4];

	(void)state;
	open_ring(DLT_EN10MB);
	assert_false(packet_ring_is_ready(ring));
	for (unsigned i = 0; i < 3; i++)
		sender_of(put_frame(0, (uint8_t)(10 * i), 60));
	pass_block(0);
	assert_true(packet_ring_is_ready(ring));
	assert_int_equal(packet_ring_take(ring, frames, 2), 2);
	packet_ring_release(ring); /* one frame is left */
	assert_false(kernel_owns(0));
	assert_int_equal(frames[1].data[0], 10);
	assert_int_equal(frames[1].caplen, 60);
	assert_int_equal(frames[1].len, 60);
	assert_int_equal(frames[1].dlt, DLT_EN10MB);
	assert_int_equal(frames[1].ts, UINT64_C(4000000000000000005));
	assert_int_equal(packet_ring_take(ring, frames, 2), 1);
	assert_int_equal(frames[0].data[0], 20);
	assert_false(kernel_owns(0));
	packet_ring_release(ring);
	assert_true(kernel_owns(0));
	assert_false(packet_ring_is_ready(ring));
}

/* Blocks are read in turn, and the first one follows the last. */
static void
test_wraps(void **state)
{
	struct frame frame;

	(void)state;
	open_ring(DLT_EN10MB);
	for (unsigned i = 0; i < 2 * BLOCKS; i++) {
		block_at(i % BLOCKS)->hdr.bh1.num_pkts = 0;
		sender_of(put_frame(i % BLOCKS, (uint8_t)i, 60));
		pass_block(i % BLOCKS);
		assert_int_equal(packet_ring_take(ring, &frame, 1), 1);
		assert_int_equal(frame.data[0], i);
		packet_ring_release(ring);
		assert_true(kernel_owns(i % BLOCKS));
	}
}

/* A block of copies only has no frame to take, and is returned. */
static void
test_copies(void **state)
{
	struct sockaddr_ll *sender;
	struct frame frames[4];

	(void)state;
	open_ring(DLT_EN10MB);
	sender = sender_of(put_frame(0, 1, 60));
	sender->sll_pkttype = PACKET_OUTGOING;
	sender->sll_ifindex = LOOPBACK;
	sender = sender_of(put_frame(0, 2, 60));
	sender->sll_pkttype = PACKET_OUTGOING;
	sender->sll_hatype = ARPHRD_CAN;
	pass_block(0);
	assert_int_equal(packet_ring_take(ring, frames, 4), 0);
	packet_ring_release(ring);
	assert_true(kernel_owns(0));

	sender = sender_of(put_frame(1, 3, 60));
	sender->sll_pkttype = PACKET_OUTGOING;
	sender = sender_of(put_frame(1, 4, 60));
	sender->sll_pkttype = PACKET_HOST;
	sender->sll_ifindex = LOOPBACK;
	pass_block(1);
	assert_int_equal(packet_ring_take(ring, frames, 4), 2);
	assert_int_equal(frames[0].data[0], 3);
	assert_int_equal(frames[1].data[0], 4);
}

static void
test_vlan_tag(void **state)
{
	const uint8_t customer[] = {0x81, 0x00, 0xe0, 0x06}, service[] = {0x88, 0xa8, 0x00, 0x07};
	struct tpacket3_hdr *header;
	struct frame frames[3];

	(void)state;
	open_ring(DLT_EN10MB);
	header = put_frame(0, 100, 60);
	sender_of(header);
	header->tp_status = TP_STATUS_VLAN_VALID;
	header->hv1.tp_vlan_tci = 0xe006;
	header = put_frame(0, 100, 60);
	sender_of(header);
	header->tp_status = TP_STATUS_VLAN_VALID | TP_STATUS_VLAN_TPID_VALID;
	header->hv1.tp_vlan_tci = 7;
	header->hv1.tp_vlan_tpid = ETH_P_8021AD;
	header = put_frame(0, 100, 11); /* ends before the tag */
	sender_of(header);
	header->tp_status = TP_STATUS_VLAN_VALID;
	pass_block(0);
	assert_int_equal(packet_ring_take(ring, frames, 3), 3);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(frames[i].caplen, 64);
		assert_int_equal(frames[i].len, 64);
		for (unsigned at = 0; at < 12; at++)
			assert_int_equal(frames[i].data[at], 100 + at);
		assert_memory_equal(frames[i].data + 12, i == 0 ? customer : service, 4);
		for (unsigned at = 16; at < 64; at++)
			assert_int_equal(frames[i].data[at], 100 + at - 4);
	}
	assert_int_equal(frames[2].caplen, 11);
	assert_int_equal(frames[2].data[0], 100);
}

static void
test_cooked(void **state)
{
	struct tpacket3_hdr *header;
	struct sll2_header sll2;
	struct sockaddr_ll *sender;
	struct frame frame;

	(void)state;
	open_ring(DLT_LINUX_SLL2);
	header = put_frame(0, 50, 40);
	header->tp_len = 1500;
	sender = sender_of(header);
	sender->sll_protocol = htons(ETH_P_IPV6);
	sender->sll_pkttype = PACKET_OUTGOING;
	sender->sll_halen = ETH_ALEN;
	memcpy(sender->sll_addr, "\2\3\4\5\6\7", ETH_ALEN);
	pass_block(0);
	assert_int_equal(packet_ring_take(ring, &frame, 1), 1);
	assert_int_equal(frame.caplen, sizeof sll2 + 40);
	assert_int_equal(frame.len, sizeof sll2 + 1500);
	memcpy(&sll2, frame.data, sizeof sll2);
	assert_int_equal(ntohs(sll2.sll2_protocol), ETH_P_IPV6);
	assert_int_equal(sll2.sll2_reserved_mbz, 0);
	assert_int_equal(ntohl(sll2.sll2_if_index), OTHER);
	assert_int_equal(ntohs(sll2.sll2_hatype), ARPHRD_ETHER);
	assert_int_equal(sll2.sll2_pkttype, PACKET_OUTGOING);
	assert_int_equal(sll2.sll2_halen, ETH_ALEN);
	assert_memory_equal(sll2.sll2_addr, "\2\3\4\5\6\7\0", 8);
	assert_int_equal(frame.data[sizeof sll2], 50);
	/* The header does not overwrite the sender's address. */
	assert_int_equal(sender->sll_protocol, htons(ETH_P_IPV6));
}

/* The kernel does not cut frames without a filter. */
static void
test_snapshot_length(void **state)
{
	struct tpacket3_hdr *header;
	struct frame frames[2];

	(void)state;
	snapshot = 32;
	open_ring(DLT_EN10MB);
	sender_of(put_frame(0, 0, 100));
	header = put_frame(0, 0, 30);
	sender_of(header);
	header->tp_status = TP_STATUS_VLAN_VALID;
	pass_block(0);
	assert_int_equal(packet_ring_take(ring, frames, 2), 2);
	assert_int_equal(frames[0].caplen, 32);
	assert_int_equal(frames[0].len, 100);
	assert_int_equal(frames[1].caplen, 32);
	assert_int_equal(frames[1].len, 34);
}

/* A block of which one frame has been taken is discarded, too, and so is a full ring; the next block is then read. */
static void
test_discard(void **state)
{
	struct frame frame;

	(void)state;
	open_ring(DLT_EN10MB);
	for (unsigned block = 0; block < BLOCKS; block++) {
		sender_of(put_frame(block, 0, 60));
		sender_of(put_frame(block, 1, 60));
		pass_block(block);
	}
	assert_int_equal(packet_ring_take(ring, &frame, 1), 1);
	packet_ring_discard(ring);
	for (unsigned block = 0; block < BLOCKS; block++)
		assert_true(kernel_owns(block));
	block_at(0)->hdr.bh1.num_pkts = 0;
	sender_of(put_frame(0, 9, 60));
	pass_block(0);
	assert_int_equal(packet_ring_take(ring, &frame, 1), 1);
	assert_int_equal(frame.data[0], 9);
}

static void
test_removed_interface(void **state)
{
	(void)state;
	open_ring(DLT_EN10MB);
	assert_true(packet_ring_check(ring));
	socket_error = ENETDOWN; /* it went down */
	assert_true(packet_ring_check(ring));
	assert_int_equal(socket_error, 0);
	bound_ifindex = -1; /* then it was removed, without a further error */
	assert_false(packet_ring_check(ring));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_unsupported, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_frames, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_wraps, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_copies, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_vlan_tag, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_cooked, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_snapshot_length, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_discard, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_removed_interface, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
