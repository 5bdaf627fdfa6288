/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any messages from the kernel, through stubs of libmnl's socket functions.  The first byte selects the reader:
 * addresses and interfaces (rtnetlink), or sockets (sock_diag).  Then records: a byte of type and flags, a byte of the
 * sequence number and more flags, a byte of the length in words, and the payload.  How the kernel packs messages into
 * datagrams makes no difference.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "host/rtnl.h"
#include "owner/sockdiag.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Flags of the first and of the second byte of a record. */
enum { END = 0x20, LOST = 0x40, WRONG_LENGTH = 0x80 };
enum { INTERRUPTED = 4, ZERO_SEQUENCE = 8 };

static struct {
	const uint8_t *data;
	size_t size, at;
	bool split;		 /* every message is a datagram of its own */
	bool lost;		 /* the error before this record has been given */
	uint32_t first_sequence; /* of the first request, 0 before it */
	int fds[2];
} kernel;

/* ---------------------------------------------------------------------------- replaces libmnl and base/log.c */

void
log_write(enum log_level level, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
}

struct mnl_socket *
mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	return (struct mnl_socket *)(void *)&kernel;
}

int
mnl_socket_bind(struct mnl_socket *socket, unsigned groups, pid_t pid)
{
	(void)socket;
	(void)groups;
	(void)pid;
	return 0;
}

int
mnl_socket_close(struct mnl_socket *socket)
{
	(void)socket;
	return 0;
}

int
mnl_socket_get_fd(const struct mnl_socket *socket)
{
	(void)socket;
	return kernel.fds[0];
}

/* Requests arrive at the other end of the socket. */
static void
read_requests(void)
{
	struct nlmsghdr header;
	ssize_t got;

	while ((got = recv(kernel.fds[1], &header, sizeof header, MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		must(got >= (ssize_t)sizeof header && header.nlmsg_len == (size_t)got);
		must((header.nlmsg_flags & NLM_F_REQUEST) != 0);
		if (kernel.first_sequence == 0)
			kernel.first_sequence = header.nlmsg_seq;
	}
}

static uint16_t
message_type(uint8_t how)
{
	static const uint16_t types[8] = {RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR,
					  NLMSG_DONE,  NLMSG_ERROR, SOCK_DIAG_BY_FAMILY, 3};

	return types[how & 7];
}

/* Appends the message of a record.  Gives its length, 0 if the record is not complete. */
static size_t
put_message(uint8_t *at, size_t space)
{
	const uint8_t *record = kernel.data + kernel.at;
	size_t left = kernel.size - kernel.at, payload;
	struct nlmsghdr header;

	if (left < 3)
		return 0;
	payload = record[2] * 4u;
	if (payload > left - 3)
		payload = (left - 3) & ~(size_t)3;
	if (sizeof header + payload > space)
		return 0;
	header = (struct nlmsghdr){
	    .nlmsg_len = (uint32_t)(sizeof header + payload),
	    .nlmsg_type = message_type(record[0]),
	    .nlmsg_flags = (record[1] & INTERRUPTED) != 0 ? NLM_F_DUMP_INTR : 0,
	    .nlmsg_seq = (record[1] & ZERO_SEQUENCE) != 0 ? 0 : kernel.first_sequence + (record[1] & 3),
	};
	/* Too long, never too short: the payload would be taken for a message, and libmnl 1.0.4 reads past one of
	 * more than INT_MAX bytes.  The kernel does not send such a message. */
	if ((record[0] & WRONG_LENGTH) != 0)
		header.nlmsg_len += (record[1] >> 4) * 4u;
	memcpy(at, &header, sizeof header);
	memcpy(at + sizeof header, record + 3, payload);
	kernel.at += 3 + payload;
	return sizeof header + payload;
}

/* Whether the next record begins a datagram. */
static bool
begins_datagram(void)
{
	return kernel.at >= kernel.size || (kernel.data[kernel.at] & (LOST | WRONG_LENGTH)) != 0;
}

ssize_t
mnl_socket_recvfrom(const struct mnl_socket *socket, void *buffer, size_t size)
{
	size_t used = 0, length;

	(void)socket;
	read_requests();
	errno = EAGAIN;
	if (kernel.at >= kernel.size)
		return -1;
	if ((kernel.data[kernel.at] & LOST) != 0 && !kernel.lost) {
		kernel.lost = true;
		errno = ENOBUFS;
		return -1;
	}
	kernel.lost = false;
	do {
		uint8_t flags = kernel.data[kernel.at];

		length = put_message((uint8_t *)buffer + used, size - used);
		used += length;
		if (length == 0 || kernel.split || (flags & (END | WRONG_LENGTH)) != 0)
			break;
	} while (!begins_datagram());
	if (length == 0 && used == 0)
		kernel.at = kernel.size;
	return used > 0 ? (ssize_t)used : -1;
}

/* ------------------------------------------------------------------------------------------------ addresses, links */

/* Does not depend on the order of interfaces. */
static void
add_interface(void *context, const struct interface_info *info)
{
	const struct tunnel_device *tunnel = &info->tunnel;
	const uint64_t values[] = {info->ifindex,    info->loopback, info->up,		info->has_mac, info->mtu,
				   info->master,     info->carrier,  info->sends_only,	info->ppp,     info->redirects,
				   tunnel->inner,    tunnel->version, tunnel->protocol, tunnel->port,  tunnel->every_id,
				   tunnel->id_in,    tunnel->id_out};
	uint64_t *digest = context, one = 0xcbf29ce484222325;

	must(memchr(info->name, '\0', sizeof info->name) != NULL);
	for (const char *at = info->name; *at != '\0'; at++)
		one = (one ^ (uint8_t)*at) * 0x100000001b3;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		one = (one ^ values[i]) * 0x100000001b3;
	for (unsigned i = 0; i < 16; i++)
		one = (one ^ (uint64_t)tunnel->local[i] << 8 ^ tunnel->remote[i]) * 0x100000001b3;
	for (unsigned i = 0; info->has_mac && i < sizeof info->mac; i++)
		one = (one ^ info->mac[i]) * 0x100000001b3;
	*digest += one;
}

static void
add_addresses(const struct local_addrs *addrs, uint64_t *digest)
{
	for (size_t i = 0; i + 4 <= kernel.size; i++) {
		uint8_t addr[16] = {0};

		memcpy(addr, kernel.data + i, 4);
		*digest = *digest * 31 + local_addrs_contains(addrs, 4, addr);
		if (i + 16 <= kernel.size)
			*digest = *digest * 31 + local_addrs_contains(addrs, 6, kernel.data + i);
	}
}

/* What is known after all messages; 0 if the first dump failed. */
static uint64_t
read_addresses(struct loop *loop)
{
	struct local_addrs *addrs = local_addrs_new(NULL, 0);
	struct interfaces *interfaces = interfaces_new();
	struct lower_dedup *dedup = lower_dedup_new(interfaces);
	struct rtnl *rtnl = rtnl_open(loop, addrs, interfaces, dedup);
	uint64_t digest = 0;

	while (rtnl != NULL && kernel.at < kernel.size) {
		loop_poll(loop);
		lower_dedup_hint(dedup);
	}
	if (rtnl != NULL) {
		interfaces_visit(interfaces, add_interface, &digest);
		add_addresses(addrs, &digest);
		digest |= 1;
	}
	rtnl_close(rtnl);
	lower_dedup_free(dedup);
	interfaces_free(interfaces);
	local_addrs_free(addrs);
	return digest;
}

/* -------------------------------------------------------------------------------------------------------- sockets */

static void
add_socket(void *context, const struct sockdiag_socket *socket)
{
	uint64_t *digest = context;
	const uint64_t values[] = {socket->cookie, socket->inode, socket->uid, socket->ifindex, socket->state,
				   socket->v6only, socket->has_tcp, socket->tcp.cwnd, socket->tcp.rtt_us,
				   socket->tcp.rto_us, socket->local_port, socket->remote_port};

	must(socket->version == 4 || socket->version == 6);
	for (unsigned i = 4; socket->version == 4 && i < 16; i++)
		must(socket->local[i] == 0);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		*digest = (*digest ^ values[i]) * 0x100000001b3;
	for (unsigned i = 0; i < 16; i++)
		*digest = (*digest ^ (uint64_t)socket->local[i] << 8 ^ socket->remote[i]) * 0x100000001b3;
}

static uint64_t
read_sockets(bool one, uint8_t version)
{
	struct sockdiag *diag = sockdiag_new();
	struct owner_key key = {.version = version, .protocol = IPPROTO_TCP, .local_port = 80};
	struct sockdiag_socket found;
	uint64_t digest = 0;

	must(diag != NULL);
	if (one) {
		enum sockdiag_result result = sockdiag_find(diag, &key, 0, &found);

		digest = (uint64_t)result + 1;
		if (result == SOCKDIAG_FOUND)
			add_socket(&digest, &found);
	} else {
		digest += sockdiag_dump(diag, IPPROTO_TCP, version, add_socket, &digest);
	}
	sockdiag_free(diag);
	return digest;
}

/* -------------------------------------------------------------------------------------------------------- an input */

static uint64_t
read_all(struct loop *loop, uint8_t how, bool split)
{
	kernel.at = 0;
	kernel.split = split;
	kernel.lost = false;
	read_requests();
	kernel.first_sequence = 0;
	if ((how & 3) < 2)
		return read_addresses(loop);
	return read_sockets((how & 1) != 0, (how & 4) != 0 ? 6 : 4);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;

	if (size < 4)
		return 0;
	if (loop == NULL) {
		loop = loop_new();
		/* Always readable. */
		must(loop != NULL && socketpair(AF_UNIX, SOCK_DGRAM, 0, kernel.fds) == 0);
		must(send(kernel.fds[1], "", 1, 0) == 1);
	}
	kernel.data = data + 1;
	kernel.size = size - 1;
	must(read_all(loop, data[0], false) == read_all(loop, data[0], true));
	return 0;
}
