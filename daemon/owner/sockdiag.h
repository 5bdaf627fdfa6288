/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking the kernel for its sockets: sock_diag(7) through libmnl.  Needs no privilege.  A request is answered within
 * the system call that makes it; the time limit on answers is for a kernel in trouble. */
#ifndef NETOBS_DAEMON_OWNER_SOCKDIAG_H
#define NETOBS_DAEMON_OWNER_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/owner.h"

struct sockdiag;

/* What the kernel tells of one socket. */
struct sockdiag_socket {
	uint64_t cookie; /* identity: no two sockets ever have the same */
	uint32_t inode;	 /* 0: no process holds it (not accepted yet, or closed already) */
	uint32_t uid;	 /* of its creator; meaningless where inode is 0 */
	uint32_t ifindex; /* the interface it is bound to, 0 for none */
	uint8_t state;	 /* enum tcp_state; UDP: ESTABLISHED if connected, else CLOSED */
	bool v6only;	 /* bound to an IPv6 address and never carries IPv4 */
	bool has_tcp;
	struct owner_tcp tcp;
	/* Its ends, for dumps: addresses of a dual-stack socket that carries IPv4 are IPv4's. */
	uint8_t version;
	uint8_t local[16], remote[16]; /* as in struct owner_key; zeros: any */
	uint16_t local_port, remote_port;
};

enum sockdiag_result {
	SOCKDIAG_FOUND,
	SOCKDIAG_NONE,	 /* there is no such socket */
	SOCKDIAG_FAILED, /* the kernel refused or did not answer in time */
};

/* For the network namespace of the calling thread, whoever uses it later.  NULL with errno. */
struct sockdiag *sockdiag_new(void);
void sockdiag_free(struct sockdiag *diag);

/* The socket that a packet from key->remote to key->local would reach.  TCP: that may be a listener, see its state.
 * UDP: it may be unconnected.  `ifindex` is where such packets arrive, 0 if unknown. */
enum sockdiag_result sockdiag_find(struct sockdiag *diag, const struct owner_key *key, uint32_t ifindex,
				   struct sockdiag_socket *found);

/* All sockets of a protocol and an IP version (of a dual-stack socket: 6), but for TCP's listeners and the remains of
 * closed connections.  False if the table could not be had whole. */
typedef void sockdiag_visitor(void *context, const struct sockdiag_socket *socket);
bool sockdiag_dump(struct sockdiag *diag, uint8_t protocol, uint8_t version, sockdiag_visitor *visit, void *context);

#endif
