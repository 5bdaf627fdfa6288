/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/interfaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define BUCKETS 64u /* indexes count up from 1, so they spread by themselves */

struct node {
	struct node *next;
	struct interface interface;
};

struct interfaces {
	uint64_t netns;
	struct node *buckets[BUCKETS];
};

/* The link that points to the node of this index, or to the NULL at the end of its bucket. */
static struct node **
find_link(struct node **link, uint32_t index)
{
	while (*link != NULL && (*link)->interface.ifindex != index)
		link = &(*link)->next;
	return link;
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

bool
interfaces_learn(struct interfaces *interfaces, uint32_t index, const char *name, bool loopback)
{
	struct node **link = find_link(&interfaces->buckets[index % BUCKETS], index);

	if (*link == NULL) {
		*link = calloc(1, sizeof **link);
		if (*link == NULL)
			return false;
		(*link)->interface.ifindex = index;
		(*link)->interface.netns = interfaces->netns;
	}
	snprintf((*link)->interface.name, sizeof (*link)->interface.name, "%s", name);
	(*link)->interface.loopback = loopback;
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
}

const struct interface *
interfaces_find(const struct interfaces *interfaces, uint32_t index)
{
	for (const struct node *node = interfaces->buckets[index % BUCKETS]; node != NULL; node = node->next)
		if (node->interface.ifindex == index)
			return &node->interface;
	return NULL;
}

uint64_t
interfaces_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/net", &status) == 0 ? (uint64_t)status.st_ino : 0;
}
