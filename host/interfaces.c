/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/interfaces.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool
tunnel_device_matches_protocol(const struct tunnel_device *device, const struct packet *outer)
{
	uint8_t protocol = outer->ip.protocol;

	if (device->version != 0 && device->version != outer->ip.version)
		return false;
	if (device->protocol == 0)
		return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6;
	if (protocol != device->protocol)
		return false;
	return protocol != IPPROTO_UDP || (outer->transport == TRANSPORT_UDP && outer->udp.dport == device->port);
}

static bool
tunnel_device_matches_address(const uint8_t configured[16], const uint8_t addr[16])
{
	static const uint8_t any[16];

	return memcmp(configured, addr, sizeof any) == 0 || memcmp(configured, any, sizeof any) == 0;
}

bool
tunnel_device_is_group(const struct ip_layer *ip)
{
	return ip->version == 4 ? (ip->dst[0] & 0xf0) == 0xe0 : ip->dst[0] == 0xff;
}

bool
tunnel_device_matches(const struct tunnel_device *device, const struct packet *outer)
{
	bool sent = outer->direction == DIRECTION_OUT;
	const uint8_t *local = sent ? outer->ip.src : outer->ip.dst, *remote = sent ? outer->ip.dst : outer->ip.src;

	if ((!sent && outer->direction != DIRECTION_IN) || device->inner != outer->inner ||
	    !tunnel_device_matches_protocol(device, outer))
		return false;
	if (!device->every_id && outer->inner_id != (sent ? device->id_out : device->id_in))
		return false;
	return tunnel_device_is_group(&outer->ip) || (tunnel_device_matches_address(device->local, local) &&
						      tunnel_device_matches_address(device->remote, remote));
}

#define BUCKETS 4096u /* indexes are consecutive, so no hash is needed; a host may have thousands of interfaces */

struct interface_entry {
	struct interface_entry *next;
	struct interface interface;
	struct interface_info info;
};

struct interfaces {
	uint64_t netns;
	bool changed; /* since the last notification */
	struct interfaces_subscriber *subscribers;
	struct interface_entry *buckets[BUCKETS];
};

/* The pointer that refers to the entry of this index, or the NULL at the end of its bucket. */
static struct interface_entry **
interfaces_find_reference(struct interface_entry **link, uint32_t index)
{
	while (*link != NULL && (*link)->interface.ifindex != index)
		link = &(*link)->next;
	return link;
}

static const struct interface_entry *
interfaces_find_entry(const struct interfaces *interfaces, uint32_t index)
{
	const struct interface_entry *entry = interfaces->buckets[index % BUCKETS];

	while (entry != NULL && entry->interface.ifindex != index)
		entry = entry->next;
	return entry;
}

struct interfaces *
interfaces_new(void)
{
	struct interfaces *interfaces = calloc(1, sizeof *interfaces);

	if (interfaces != NULL)
		interfaces->netns = interfaces_netns_inode();
	return interfaces;
}

void
interfaces_free(struct interfaces *interfaces)
{
	if (interfaces == NULL)
		return;
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (interfaces->buckets[i] != NULL)
			interfaces_remove(interfaces, interfaces->buckets[i]->interface.ifindex);
	}
	free(interfaces);
}

/* ---------------------------------------------------------------------------------------------------------- changes */

bool
interfaces_update(struct interfaces *interfaces, const struct interface_info *info)
{
	struct interface_entry **link =
	    interfaces_find_reference(&interfaces->buckets[info->ifindex % BUCKETS], info->ifindex);
	struct interface *interface;

	if (*link == NULL) {
		*link = calloc(1, sizeof **link);
		if (*link == NULL)
			return false;
	}
	(*link)->info = *info;
	interface = &(*link)->interface;
	interface->ifindex = info->ifindex;
	interface->netns = interfaces->netns;
	interface->loopback = info->loopback;
	interface->has_mac = info->has_mac;
	memcpy(interface->mac, info->mac, sizeof interface->mac);
	memcpy(interface->name, info->name, sizeof interface->name);
	interfaces->changed = true;
	return true;
}

void
interfaces_remove(struct interfaces *interfaces, uint32_t index)
{
	struct interface_entry **link = interfaces_find_reference(&interfaces->buckets[index % BUCKETS], index);
	struct interface_entry *entry = *link;

	if (entry == NULL)
		return;
	*link = entry->next;
	free(entry);
	interfaces->changed = true;
}

void
interfaces_notify(struct interfaces *interfaces)
{
	struct interfaces_subscriber *next;

	if (!interfaces->changed)
		return;
	interfaces->changed = false;
	for (struct interfaces_subscriber *at = interfaces->subscribers; at != NULL; at = next) {
		next = at->next;
		at->changed(at->context);
	}
}

void
interfaces_subscribe(struct interfaces *interfaces, struct interfaces_subscriber *subscriber)
{
	struct interfaces_subscriber **last = &interfaces->subscribers;

	while (*last != NULL)
		last = &(*last)->next;
	subscriber->next = NULL;
	*last = subscriber;
}

void
interfaces_unsubscribe(struct interfaces *interfaces, struct interfaces_subscriber *subscriber)
{
	struct interfaces_subscriber **at = &interfaces->subscribers;

	while (*at != NULL && *at != subscriber)
		at = &(*at)->next;
	if (*at != NULL)
		*at = subscriber->next;
}

/* ---------------------------------------------------------------------------------------------------------- lookups */

const struct interface *
interfaces_find(const struct interfaces *interfaces, uint32_t index)
{
	const struct interface_entry *entry = interfaces_find_entry(interfaces, index);

	return entry != NULL ? &entry->interface : NULL;
}

const struct interface_info *
interfaces_find_info(const struct interfaces *interfaces, uint32_t index)
{
	const struct interface_entry *entry = interfaces_find_entry(interfaces, index);

	return entry != NULL ? &entry->info : NULL;
}

void
interfaces_visit(const struct interfaces *interfaces, interfaces_visitor *visit, void *context)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct interface_entry *entry = interfaces->buckets[i]; entry != NULL; entry = entry->next)
			visit(context, &entry->info);
}

uint64_t
interfaces_netns_inode(void)
{
	struct stat status;

	return stat("/proc/self/ns/net", &status) == 0 ? (uint64_t)status.st_ino : 0;
}
