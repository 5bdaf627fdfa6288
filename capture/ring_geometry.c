/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/ring_geometry.h"

#include <libmnl/libmnl.h>
#include <linux/if_packet.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

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

bool
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
