/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interfaces of this namespace by index, so that a frame captured on "any", whose cooked header has the
 * index, is reported with the interface it really went through, and so that who observes an interface learns what
 * becomes of it. */
#ifndef NETOBS_DAEMON_HOST_INTERFACES_H
#define NETOBS_DAEMON_HOST_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/frame.h"

struct interfaces;

/* What the kernel says of an interface. */
struct link_facts {
	uint32_t index;
	char name[16];
	bool loopback;
	bool up;	 /* as its administrator wants it */
	bool has_mac;	 /* mac is set: it is an Ethernet */
	uint8_t mac[6];
	uint32_t mtu;	 /* 0 if unknown */
	uint32_t master; /* index of the bridge, bond or team that it is a port of, 0 if it is none */
	uint32_t carrier; /* index of the interface that this VLAN device is on, 0 if it is none */
};

/* Who wants to know that something has changed; the memory is the follower's. */
struct interfaces_follower {
	void (*changed)(void *context);
	void *context;
	struct interfaces_follower *next;
};

/* An empty collection.  NULL if memory cannot be had. */
struct interfaces *interfaces_new(void);
void interfaces_free(struct interfaces *interfaces);

/* An interface is there, or something about it is new.  False if memory cannot be had. */
bool interfaces_learn(struct interfaces *interfaces, const struct link_facts *facts);

/* It is gone.  No frame of it may be waiting in a batch. */
void interfaces_forget(struct interfaces *interfaces, uint32_t index);

/* Calls the followers, in the order in which they came, if anything was learnt or forgotten since the last time. */
void interfaces_announce(struct interfaces *interfaces);
void interfaces_follow(struct interfaces *interfaces, struct interfaces_follower *follower);
void interfaces_unfollow(struct interfaces *interfaces, struct interfaces_follower *follower);

/* NULL if it is not known.  The answers live until the interface is forgotten; a change changes them in place. */
const struct interface *interfaces_find(const struct interfaces *interfaces, uint32_t index);
const struct link_facts *interfaces_facts(const struct interfaces *interfaces, uint32_t index);

/* Calls `visit` for every interface, in no particular order. */
typedef void interfaces_visitor(void *context, const struct link_facts *facts);
void interfaces_visit(const struct interfaces *interfaces, interfaces_visitor *visit, void *context);

/* Inode of the network namespace that this process is in, 0 if it cannot be told. */
uint64_t interfaces_namespace(void);

#endif
