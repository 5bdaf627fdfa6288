/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an interface whose ring is mapped (packet_ring.h). */
#include <libmnl/libmnl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/log.h"
#include "capture/batch.h"
#include "capture/link_filters.h"
#include "capture/live_internal.h"
#include "capture/packet_ring.h"

void
live_ring_map(struct live_interface *interface)
{
	struct live *live = interface->live;

	/* With a filter at the start libpcap reads: it also filters frames that arrived before the filter was set. */
	if (live->config->filter == NULL)
		interface->ring = packet_ring_map(interface->pcap, &live->ring_geometry);
	log_debug(DEBUG_LIVE, "interface %s is read %s", interface->identity.name,
		  interface->ring != NULL ? "in place" : "by libpcap");
}

void
live_ring_unmap(struct live_interface *interface)
{
	packet_ring_unmap(interface->ring);
	interface->ring = NULL;
	pcap_freecode(&interface->filter);
}

/* Whether libpcap could give its filter to the kernel.  A filter that the kernel refuses is detached again. */
static bool
live_ring_kernel_filters(const struct live_interface *interface)
{
	socklen_t instructions = 0; /* with room for none the kernel returns only their number */

	return getsockopt(pcap_get_selectable_fd(interface->pcap), SOL_SOCKET, SO_GET_FILTER, NULL, &instructions) ==
		   0 &&
	       instructions > 0;
}

/* Compiled as for a file: tests of VLAN tags then read them in the frame.  For an interface libpcap compiles
 * instructions that only the kernel can run. */
static bool
live_ring_compile_filter(struct live_interface *interface, const struct config *config)
{
	pcap_t *file = pcap_open_dead(interface->dlt, config->snaplen);
	bool good = file != NULL && capture_compile_filter(config, file, interface->identity.name, &interface->filter);

	if (file != NULL)
		pcap_close(file);
	return good;
}

bool
live_ring_set_filter(struct live_interface *interface, const struct config *config)
{
	pcap_freecode(&interface->filter);
	return interface->ring == NULL || config->filter == NULL || live_ring_kernel_filters(interface) ||
	       live_ring_compile_filter(interface, config);
}

/* Whether the frame passes the filter and the joining phase of a fanout group (live_handle_fanout_frame()). */
static bool
live_ring_wants_frame(struct live_interface *interface, const struct frame *frame)
{
	struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->len};

	if (frame->ts < interface->fanout_since) {
		interface->live->counters.received--;
		interface->stats.received--;
		return false;
	}
	return interface->filter.bf_insns == NULL || pcap_offline_filter(&interface->filter, &header, frame->data) != 0;
}

/* Removes unwanted frames.  Returns how many are left. */
static unsigned
live_ring_select_frames(struct live_interface *interface, struct frame *frames, unsigned count)
{
	unsigned wanted = 0;

	if (interface->fanout_since == 0 && interface->filter.bf_insns == NULL)
		return count;
	for (unsigned i = 0; i < count; i++)
		if (live_ring_wants_frame(interface, &frames[i]))
			frames[wanted++] = frames[i];
	return wanted;
}

/* Frames of "any" have the index of their interface in the link header. */
static void
live_ring_set_interfaces(const struct live_interface *interface, struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		frames[i].interface = interface->has_ifindex
					  ? live_frame_interface(interface, frames[i].data, frames[i].caplen)
					  : &interface->identity;
}

int
live_ring_dispatch(struct live_interface *interface, unsigned most)
{
	struct frame frames[BATCH_FRAMES];
	unsigned read = 0;

	/* Frames from before the suspension belong to connections that were dropped. */
	if (interface->live->suspended)
		packet_ring_discard(interface->ring);
	while (!interface->live->suspended && read < most && packet_ring_is_ready(interface->ring)) {
		unsigned taken = packet_ring_take(interface->ring, frames, BATCH_FRAMES), count;

		live_ring_set_interfaces(interface, frames, taken);
		count = live_ring_select_frames(interface, frames, taken);
		batch_take_in_place(interface->live->batch, frames, count);
		packet_ring_release(interface->ring);
		read += taken;
	}
	if (read == 0 && !packet_ring_check(interface->ring))
		return PCAP_ERROR;
	return read < most ? (int)read : (int)most;
}

/* -------------------------------------------------------------------------------------------- the geometry of rings */

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
