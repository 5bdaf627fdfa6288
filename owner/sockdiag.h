/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries the kernel for sockets: sock_diag(7) through libmnl.  Needs no privilege.  The kernel answers within the
 * system call that sends the request; the timeout is only a safeguard. */
#ifndef NETOBS_OWNER_SOCKDIAG_H
#define NETOBS_OWNER_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/owner.h"

struct sockdiag;

/* The kernel's data about one socket. */
struct sockdiag_socket {
	uint64_t cookie; /* identity: no two sockets ever have the same cookie */
	uint32_t inode;	 /* 0: no process holds the socket (not accepted yet, or closed already) */
	uint32_t uid;	 /* user that created the socket; undefined if inode is 0 */
	uint32_t ifindex; /* interface that the socket is bound to, 0 none */
	uint8_t state;	 /* enum tcp_state; UDP: ESTABLISHED if connected, else CLOSED */
	bool v6only;	 /* bound to an IPv6 address and never carries IPv4 */
	bool has_tcp;
	struct owner_tcp tcp;
	/* Ends of the socket, set in dumps.  If a dual-stack socket carries IPv4 these are IPv4 addresses. */
	uint8_t version;
	uint8_t local[16], remote[16]; /* as in struct owner_key; zeros mean any */
	uint16_t local_port, remote_port;
};

enum sockdiag_result {
	SOCKDIAG_FOUND,
	SOCKDIAG_NONE,	 /* there is no such socket */
	SOCKDIAG_FAILED, /* the kernel refused or did not answer in time */
};

/* For the network namespace of the calling thread; other threads may use the result.  NULL with errno. */
struct sockdiag *sockdiag_new(void);
void sockdiag_free(struct sockdiag *diag);

/* Finds the socket that a packet from key->remote to key->local would reach.  It may be a TCP listener (see its state)
 * or an unconnected UDP socket.  `ifindex` is the interface where such packets arrive, 0 if unknown. */
enum sockdiag_result sockdiag_find(struct sockdiag *diag, const struct owner_key *key, uint32_t ifindex,
				   struct sockdiag_socket *found);

/* Visits all sockets of a protocol and IP version (6 for dual-stack sockets), except TCP listeners and remains of
 * closed connections.  False if the table is incomplete. */
typedef void sockdiag_visitor(void *context, const struct sockdiag_socket *socket);
bool sockdiag_dump(struct sockdiag *diag, uint8_t protocol, uint8_t version, sockdiag_visitor *visit, void *context);

#endif
