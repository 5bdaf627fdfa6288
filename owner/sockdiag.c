/* SPDX-License-Identifier: BSD-2-Clause */
#include "owner/sockdiag.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "flow/endpoint.h"

#define REPLY_BYTES	  32768 /* the kernel's limit for one message of a dump */
#define REPLY_SECONDS	  1
#define SSTHRESH_INFINITE 0x7fffffffu /* TCP_INFINITE_SSTHRESH */

_Static_assert(sizeof(struct inet_diag_msg) % MNL_ALIGNTO == 0, "attributes follow the message without padding");

struct sockdiag {
	struct mnl_socket *socket;
	uint32_t sequence;
	_Alignas(struct nlmsghdr) char request[256];
	_Alignas(struct nlmsghdr) char reply[REPLY_BYTES];
};

struct sockdiag *
sockdiag_new(void)
{
	const struct timeval limit = {.tv_sec = REPLY_SECONDS};
	struct sockdiag *diag = calloc(1, sizeof *diag);

	if (diag == NULL)
		return NULL;
	diag->socket = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (diag->socket == NULL || mnl_socket_bind(diag->socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    setsockopt(mnl_socket_get_fd(diag->socket), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0) {
		int error = errno;

		sockdiag_free(diag);
		errno = error;
		return NULL;
	}
	return diag;
}

void
sockdiag_free(struct sockdiag *diag)
{
	if (diag == NULL)
		return;
	if (diag->socket != NULL)
		mnl_socket_close(diag->socket);
	free(diag);
}

static struct inet_diag_req_v2 *
sockdiag_init_request(struct sockdiag *diag, uint8_t protocol, uint8_t version, uint16_t flags)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(diag->request);
	struct inet_diag_req_v2 *request;

	header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	header->nlmsg_seq = ++diag->sequence;
	request = mnl_nlmsg_put_extra_header(header, sizeof *request);
	request->sdiag_family = version == 4 ? AF_INET : AF_INET6;
	request->sdiag_protocol = protocol;
	request->idiag_ext = 1 << (INET_DIAG_INFO - 1);
	request->idiag_states = UINT32_MAX;
	request->id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	request->id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	return request;
}

/* Sends without an address, which means the kernel; the system-call filter refuses addresses. */
static bool
sockdiag_send_request(struct sockdiag *diag)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)diag->request;

	return send(mnl_socket_get_fd(diag->socket), header, header->nlmsg_len, 0) == (ssize_t)header->nlmsg_len;
}

static uint32_t
sockdiag_segments_to_bytes(uint32_t segments, uint32_t mss)
{
	uint64_t bytes = (uint64_t)segments * mss;

	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* Older kernels return a shorter struct; missing fields are 0. */
static void
sockdiag_parse_tcp_info(struct sockdiag_socket *socket, const struct nlattr *attribute)
{
	size_t length = mnl_attr_get_payload_len(attribute);
	struct tcp_info info = {0};

	memcpy(&info, mnl_attr_get_payload(attribute), length < sizeof info ? length : sizeof info);
	socket->has_tcp = true;
	socket->tcp = (struct owner_tcp){
	    .cwnd = sockdiag_segments_to_bytes(info.tcpi_snd_cwnd, info.tcpi_snd_mss),
	    .ssthresh = info.tcpi_snd_ssthresh < SSTHRESH_INFINITE
			    ? sockdiag_segments_to_bytes(info.tcpi_snd_ssthresh, info.tcpi_snd_mss)
			    : 0,
	    .rtt_us = info.tcpi_rtt,
	    .rttvar_us = info.tcpi_rtt != 0 ? info.tcpi_rttvar : 0, /* a constant until the first round-trip sample */
	    .rto_us = info.tcpi_rto,
	    .mss = info.tcpi_snd_mss,
	};
}

/* ::ffff:a.b.c.d becomes a.b.c.d (RFC 4291 section 2.5.5.2). */
static bool
sockdiag_is_v4_mapped(const uint8_t addr[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(addr, prefix, sizeof prefix) == 0;
}

static void
sockdiag_unmap_v4(uint8_t addr[16])
{
	memmove(addr, addr + 12, 4);
	memset(addr + 4, 0, 12);
}

static void
sockdiag_parse_endpoints(struct sockdiag_socket *socket, const struct inet_diag_msg *message)
{
	socket->version = message->idiag_family == AF_INET ? 4 : 6;
	memcpy(socket->local, message->id.idiag_src, socket->version == 4 ? 4 : 16);
	memcpy(socket->remote, message->id.idiag_dst, socket->version == 4 ? 4 : 16);
	socket->local_port = be16toh(message->id.idiag_sport);
	socket->remote_port = be16toh(message->id.idiag_dport);
	/* A connected dual-stack socket has both addresses mapped; one bound to an address only that address. */
	if (socket->version == 6 && sockdiag_is_v4_mapped(socket->local)) {
		socket->version = 4;
		sockdiag_unmap_v4(socket->local);
		if (sockdiag_is_v4_mapped(socket->remote))
			sockdiag_unmap_v4(socket->remote);
	}
}

static void
sockdiag_parse_attributes(struct sockdiag_socket *socket, const struct nlmsghdr *header)
{
	const struct nlattr *attribute = mnl_nlmsg_get_payload_offset(header, sizeof(struct inet_diag_msg));
	int left = (int)(mnl_nlmsg_get_payload_len(header) - sizeof(struct inet_diag_msg));

	while (mnl_attr_ok(attribute, left)) {
		uint16_t type = mnl_attr_get_type(attribute);

		if (type == INET_DIAG_INFO && socket->state != TCP_STATE_LISTEN)
			sockdiag_parse_tcp_info(socket, attribute);
		if (type == INET_DIAG_SKV6ONLY && mnl_attr_get_payload_len(attribute) >= 1)
			socket->v6only = mnl_attr_get_u8(attribute) != 0;
		left -= (int)MNL_ALIGN(mnl_attr_get_len(attribute));
		attribute = mnl_attr_next(attribute);
	}
}

static bool
sockdiag_parse_socket(struct sockdiag_socket *socket, const struct nlmsghdr *header)
{
	const struct inet_diag_msg *message = mnl_nlmsg_get_payload(header);

	if (mnl_nlmsg_get_payload_len(header) < sizeof *message)
		return false;
	*socket = (struct sockdiag_socket){
	    .cookie = (uint64_t)message->id.idiag_cookie[1] << 32 | message->id.idiag_cookie[0],
	    .inode = message->idiag_inode,
	    .uid = message->idiag_uid,
	    .ifindex = message->id.idiag_if,
	    .state = message->idiag_state,
	};
	sockdiag_parse_endpoints(socket, message);
	sockdiag_parse_attributes(socket, header);
	return true;
}

/* Evaluates one message of the reply about a single socket. */
static enum sockdiag_result
sockdiag_parse_reply(const struct nlmsghdr *header, struct sockdiag_socket *found)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

	if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY)
		return sockdiag_parse_socket(found, header) ? SOCKDIAG_FOUND : SOCKDIAG_FAILED;
	if (header->nlmsg_type == NLMSG_ERROR && mnl_nlmsg_get_payload_len(header) >= sizeof error->error &&
	    (error->error == -ENOENT || error->error == -ESTALE))
		return SOCKDIAG_NONE;
	return SOCKDIAG_FAILED;
}

static enum sockdiag_result
sockdiag_receive_reply(struct sockdiag *diag, struct sockdiag_socket *found)
{
	for (;;) {
		ssize_t length = mnl_socket_recvfrom(diag->socket, diag->reply, sizeof diag->reply);
		const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)diag->reply;
		int left = (int)length;

		if (length <= 0)
			return SOCKDIAG_FAILED;
		for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left))
			if (header->nlmsg_seq == diag->sequence)
				return sockdiag_parse_reply(header, found);
		/* A late reply to an earlier request: the reply to this one follows. */
	}
}

enum sockdiag_result
sockdiag_find(struct sockdiag *diag, const struct owner_key *key, uint32_t ifindex, struct sockdiag_socket *found)
{
	struct inet_diag_req_v2 *request = sockdiag_init_request(diag, key->protocol, key->version, 0);
	/* For UDP the kernel expects the two ends in reverse order. */
	bool swapped = key->protocol == IPPROTO_UDP;

	memcpy(request->id.idiag_src, swapped ? key->remote : key->local, 16);
	memcpy(request->id.idiag_dst, swapped ? key->local : key->remote, 16);
	request->id.idiag_sport = htobe16(swapped ? key->remote_port : key->local_port);
	request->id.idiag_dport = htobe16(swapped ? key->local_port : key->remote_port);
	request->id.idiag_if = ifindex;
	return sockdiag_send_request(diag) ? sockdiag_receive_reply(diag, found) : SOCKDIAG_FAILED;
}

enum sockdiag_progress {
	SOCKDIAG_MORE,
	SOCKDIAG_COMPLETE,
	SOCKDIAG_BROKEN,
};

static enum sockdiag_progress
sockdiag_visit_messages(const struct sockdiag *diag, ssize_t length, sockdiag_visitor *visit, void *context)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)diag->reply;
	int left = (int)length;
	struct sockdiag_socket socket;

	for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left)) {
		if (header->nlmsg_seq != diag->sequence)
			continue;
		if (header->nlmsg_type == NLMSG_DONE)
			return SOCKDIAG_COMPLETE;
		if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || !sockdiag_parse_socket(&socket, header))
			return SOCKDIAG_BROKEN;
		visit(context, &socket);
	}
	return SOCKDIAG_MORE;
}

bool
sockdiag_dump(struct sockdiag *diag, uint8_t protocol, uint8_t version, sockdiag_visitor *visit, void *context)
{
	struct inet_diag_req_v2 *request = sockdiag_init_request(diag, protocol, version, NLM_F_DUMP);
	enum sockdiag_progress progress = SOCKDIAG_MORE;

	if (protocol == IPPROTO_TCP)
		request->idiag_states &=
		    ~(1u << TCP_STATE_LISTEN | 1u << TCP_STATE_TIME_WAIT | 1u << TCP_STATE_SYN_RECEIVED);
	if (!sockdiag_send_request(diag))
		return false;
	while (progress == SOCKDIAG_MORE) {
		ssize_t length = mnl_socket_recvfrom(diag->socket, diag->reply, sizeof diag->reply);

		progress = length > 0 ? sockdiag_visit_messages(diag, length, visit, context) : SOCKDIAG_BROKEN;
	}
	return progress == SOCKDIAG_COMPLETE;
}
