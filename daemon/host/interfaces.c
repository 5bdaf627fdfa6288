/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/host/interfaces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BUCKETS 64u /* indexes are consecutive, so no hash is needed */

struct node {
	struct node *next;
	struct interface interface;
	struct link_facts facts;
};

struct interfaces {
	uint64_t netns;
	bool changed; /* since the last announcement */
	struct interfaces_follower *followers;
	struct node *buckets[BUCKETS];
};

/* The pointer that refers to the node of this index, or the NULL at the end of its bucket. */
static struct node **
find_link(struct node **link, uint32_t index)
{
	while (*link != NULL && (*link)->interface.ifindex != index)
		link = &(*link)->next;
	return link;
}

static const struct node *
find_node(const struct interfaces *interfaces, uint32_t index)
{
	const struct node *node = interfaces->buckets[index % BUCKETS];

	while (node != NULL && node->interface.ifindex != index)
		node = node->next;
	return node;
}

struct interfaces *
interfaces_new(void)
{
	struct interfaces *interfaces = calloc(1, sizeof *interfaces);

	if (interfaces != NULL)
		interfaces->netns = interfaces_namespace();
	return interfaces;
}

void
interfaces_free(struct interfaces *interfaces)
{
	if (interfaces == NULL)
		return;
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (interfaces->buckets[i] != NULL)
			interfaces_forget(interfaces, interfaces->buckets[i]->interface.ifindex);
	}
	free(interfaces);
}

/* ---------------------------------------------------------------------------------------------------------- changes */

bool
interfaces_learn(struct interfaces *interfaces, const struct link_facts *facts)
{
	struct node **link = find_link(&interfaces->buckets[facts->index % BUCKETS], facts->index);
	struct interface *interface;

	if (*link == NULL) {
		*link = calloc(1, sizeof **link);
		if (*link == NULL)
			return false;
	}
	(*link)->facts = *facts;
	interface = &(*link)->interface;
	interface->ifindex = facts->index;
	interface->netns = interfaces->netns;
	interface->loopback = facts->loopback;
	interface->has_mac = facts->has_mac;
	memcpy(interface->mac, facts->mac, sizeof interface->mac);
	memcpy(interface->name, facts->name, sizeof interface->name);
	interfaces->changed = true;
	return true;
}

void
interfaces_forget(struct interfaces *interfaces, uint32_t index)
{
	struct node **link = find_link(&interfaces->buckets[index % BUCKETS], index);
	struct node *node = *link;

	if (node == NULL)
		return;
	*link = node->next;
	free(node);
	interfaces->changed = true;
}

void
interfaces_announce(struct interfaces *interfaces)
{
	struct interfaces_follower *next;

	if (!interfaces->changed)
		return;
	interfaces->changed = false;
	for (struct interfaces_follower *at = interfaces->followers; at != NULL; at = next) {
		next = at->next;
		at->changed(at->context);
	}
}

void
interfaces_follow(struct interfaces *interfaces, struct interfaces_follower *follower)
{
	struct interfaces_follower **last = &interfaces->followers;

	while (*last != NULL)
		last = &(*last)->next;
	follower->next = NULL;
	*last = follower;
}

void
interfaces_unfollow(struct interfaces *interfaces, struct interfaces_follower *follower)
{
	struct interfaces_follower **at = &interfaces->followers;

	while (*at != NULL && *at != follower)
		at = &(*at)->next;
	if (*at != NULL)
		*at = follower->next;
}

/* -------------------------------------------------------------------------------------------------------- questions */

const struct interface *
interfaces_find(const struct interfaces *interfaces, uint32_t index)
{
	const struct node *node = find_node(interfaces, index);

	return node != NULL ? &node->interface : NULL;
}

const struct link_facts *
interfaces_facts(const struct interfaces *interfaces, uint32_t index)
{
	const struct node *node = find_node(interfaces, index);

	return node != NULL ? &node->facts : NULL;
}

void
interfaces_visit(const struct interfaces *interfaces, interfaces_visitor *visit, void *context)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct node *node = interfaces->buckets[i]; node != NULL; node = node->next)
			visit(context, &node->facts);
}

uint64_t
interfaces_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/net", &status) == 0 ? (uint64_t)status.st_ino : 0;
}
