/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/lower_dedup.h"

#include <linux/if_ether.h>
#include <net/ethernet.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"

/* Deepest stack followed (VLAN on bond on bridge ...). */
#define DEPTH_MAX 8

struct interface_address {
	uint32_t ifindex;
	uint8_t version;
	uint8_t addr[16];
	bool sends_only; /* in a list of upper addresses: only outgoing frames are captured on the upper interface */
};

struct lower_device {
	uint32_t ifindex;
	bool enslaved;	/* a port: frames for this host also pass through its master */
	bool carries;	/* carries VLAN, macvlan or ipvlan devices */
	bool redirects; /* every frame is captured on another interface, too */
	struct interface_address
	    *upper_addresses; /* addresses of the interfaces above it that it does not have itself, sorted */
	size_t count;
};

/* A tunnel by what most tunnels of a host differ in: their id, or without a key the other end. */
struct tunnel_key {
	uint32_t id;
	uint8_t remote[16];
	uint32_t index; /* in lower_dedup.tunnels */
};

struct lower_dedup {
	struct interfaces *interfaces;
	struct interfaces_subscriber subscriber;
	bool rebuild_needed; /* `devices` must be rebuilt */
	struct interface_address *addresses;
	size_t address_count, address_capacity;
	struct interface_info *links; /* used while `devices` is rebuilt */
	size_t link_count, link_capacity;
	struct lower_device *devices; /* sorted by interface index */
	size_t device_count;
	uint64_t hint;		       /* bit n: the interface index of a device is n modulo 64 */
	struct tunnel_device *tunnels; /* tunnel devices that are up, those for every id first */
	size_t tunnel_count, every_id_count;
	struct tunnel_key *tunnel_keys[2]; /* received, sent: tunnels with one id, sorted */
	bool has_ppp;			   /* a PPP interface is up */
	struct interface_address *ppp_addresses; /* addresses of PPP interfaces that are up, sorted */
	size_t ppp_address_count;
};

static bool
interface_address_equals(const struct interface_address *address, uint8_t version, const uint8_t addr[16])
{
	return address->version == version && memcmp(address->addr, addr, sizeof address->addr) == 0;
}

/* Order of sorted addresses; of equal ones those of which every frame is captured come first. */
static int
interface_address_compare(const void *a, const void *b)
{
	const struct interface_address *one = a, *other = b;
	int order = memcmp(one->addr, other->addr, sizeof one->addr);

	if (one->version != other->version)
		return one->version < other->version ? -1 : 1;
	return order != 0 ? order : one->sends_only - other->sends_only;
}

/* The first of the sorted addresses that is equal, NULL if there is none: a carrier may have thousands of VLANs. */
static const struct interface_address *
interface_address_find(const struct interface_address *addresses, size_t count, uint8_t version, const uint8_t addr[16])
{
	struct interface_address wanted = {.version = version};
	size_t low = 0, high = count;

	memcpy(wanted.addr, addr, sizeof wanted.addr);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (interface_address_compare(&addresses[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && interface_address_equals(&addresses[low], version, addr) ? &addresses[low] : NULL;
}

/* -------------------------------------------------------------------------------------------------------- addresses */

bool
lower_dedup_add_address(struct lower_dedup *dedup, uint32_t ifindex, uint8_t version, const uint8_t addr[16])
{
	struct interface_address *address;
	void *array;

	if (dedup == NULL)
		return true;
	array = dedup->addresses;
	if (!array_reserve_one(&array, dedup->address_count, &dedup->address_capacity, sizeof *address))
		return false;
	dedup->addresses = array;
	address = &dedup->addresses[dedup->address_count++];
	*address = (struct interface_address){.ifindex = ifindex, .version = version};
	memcpy(address->addr, addr, sizeof address->addr);
	dedup->rebuild_needed = true;
	return true;
}

void
lower_dedup_remove_address(struct lower_dedup *dedup, uint32_t ifindex, uint8_t version, const uint8_t addr[16])
{
	if (dedup == NULL)
		return;
	for (size_t i = 0; i < dedup->address_count; i++) {
		struct interface_address *address = &dedup->addresses[i];

		if (address->ifindex != ifindex || !interface_address_equals(address, version, addr))
			continue;
		*address = dedup->addresses[--dedup->address_count];
		dedup->rebuild_needed = true;
		return;
	}
}

static bool
lower_dedup_has_address(const struct lower_dedup *dedup, uint32_t ifindex, const struct interface_address *address)
{
	for (size_t i = 0; i < dedup->address_count; i++)
		if (dedup->addresses[i].ifindex == ifindex &&
		    interface_address_equals(&dedup->addresses[i], address->version, address->addr))
			return true;
	return false;
}

/* ---------------------------------------------------------------------------------------------------- lower devices */

static void
lower_dedup_collect_link(void *context, const struct interface_info *info)
{
	struct lower_dedup *dedup = context;
	void *array = dedup->links;

	if (!array_reserve_one(&array, dedup->link_count, &dedup->link_capacity, sizeof *info)) {
		log_warning("out of memory: frames on \"any\" may be observed twice");
		return;
	}
	dedup->links = array;
	dedup->links[dedup->link_count++] = *info;
}

static struct lower_device *
lower_dedup_get_device(struct lower_dedup *dedup, uint32_t ifindex)
{
	for (size_t i = 0; i < dedup->device_count; i++)
		if (dedup->devices[i].ifindex == ifindex)
			return &dedup->devices[i];
	dedup->devices[dedup->device_count] = (struct lower_device){.ifindex = ifindex};
	return &dedup->devices[dedup->device_count++];
}

static void
lower_dedup_collect_addresses(struct lower_dedup *dedup, struct lower_device *device, uint32_t ifindex, bool sends_only)
{
	for (size_t i = 0; i < dedup->address_count; i++) {
		const struct interface_address *address = &dedup->addresses[i];

		if (address->ifindex != ifindex || lower_dedup_has_address(dedup, device->ifindex, address))
			continue;
		device->upper_addresses[device->count] = *address;
		device->upper_addresses[device->count++].sends_only = sends_only;
	}
}

/* Collects the addresses of everything above `link`, directly or indirectly. */
static void
lower_dedup_collect_upper(struct lower_dedup *dedup, struct lower_device *device, const struct interface_info *link,
			  unsigned depth)
{
	for (size_t i = 0; i < dedup->link_count && depth < DEPTH_MAX; i++) {
		const struct interface_info *upper = &dedup->links[i];

		/* A bridge is visited once per path up to it.  Stop once more than all addresses are collected: a visit
		 * adds at most all of them, and there is memory for twice as many. */
		if (!upper->up || (upper->carrier != link->ifindex && upper->ifindex != link->master) ||
		    device->count > dedup->address_count)
			continue;
		lower_dedup_collect_addresses(dedup, device, upper->ifindex, upper->sends_only);
		lower_dedup_collect_upper(dedup, device, upper, depth + 1);
	}
}

static void
lower_dedup_link_devices(struct lower_dedup *dedup)
{
	for (size_t i = 0; i < dedup->link_count; i++) {
		const struct interface_info *link = &dedup->links[i];
		const struct interface_info *master = interfaces_find_info(dedup->interfaces, link->master);

		if (link->master != 0 && master != NULL && master->up)
			lower_dedup_get_device(dedup, link->ifindex)->enslaved = true;
		if (link->carrier != 0 && link->up)
			lower_dedup_get_device(dedup, link->carrier)->carries = true;
		if (link->redirects)
			lower_dedup_get_device(dedup, link->ifindex)->redirects = true;
	}
}

static void
lower_dedup_add_tunnels(struct lower_dedup *dedup, bool every_id)
{
	for (size_t i = 0; i < dedup->link_count; i++) {
		const struct interface_info *link = &dedup->links[i];

		if (link->up && link->tunnel.inner != INNER_NONE && link->tunnel.every_id == every_id)
			dedup->tunnels[dedup->tunnel_count++] = link->tunnel;
	}
}

static int
tunnel_key_compare(const void *a, const void *b)
{
	const struct tunnel_key *one = a, *other = b;
	int order = memcmp(one->remote, other->remote, sizeof one->remote);

	if (one->id != other->id)
		return one->id < other->id ? -1 : 1;
	return order != 0 ? order : (one->index > other->index) - (one->index < other->index);
}

static struct tunnel_key
tunnel_key_make(const struct lower_dedup *dedup, size_t index, bool sent)
{
	const struct tunnel_device *tunnel = &dedup->tunnels[index];
	struct tunnel_key key = {.id = sent ? tunnel->id_out : tunnel->id_in, .index = (uint32_t)index};

	memcpy(key.remote, tunnel->remote, sizeof key.remote);
	return key;
}

/* The addresses of PPP interfaces that are up. */
static void
lower_dedup_collect_ppp(struct lower_dedup *dedup)
{
	for (size_t i = 0; i < dedup->address_count; i++) {
		const struct interface_info *link =
		    interfaces_find_info(dedup->interfaces, dedup->addresses[i].ifindex);

		if (link != NULL && link->up && link->ppp)
			dedup->ppp_addresses[dedup->ppp_address_count++] = dedup->addresses[i];
	}
	if (dedup->ppp_address_count > 0)
		qsort(dedup->ppp_addresses, dedup->ppp_address_count, sizeof *dedup->ppp_addresses,
		      interface_address_compare);
}

static void
lower_dedup_collect_tunnels(struct lower_dedup *dedup)
{
	lower_dedup_add_tunnels(dedup, true);
	dedup->every_id_count = dedup->tunnel_count;
	lower_dedup_add_tunnels(dedup, false);
	for (size_t i = dedup->every_id_count; i < dedup->tunnel_count; i++) {
		dedup->tunnel_keys[0][i - dedup->every_id_count] = tunnel_key_make(dedup, i, false);
		dedup->tunnel_keys[1][i - dedup->every_id_count] = tunnel_key_make(dedup, i, true);
	}
	for (unsigned sent = 0; sent < 2; sent++)
		qsort(dedup->tunnel_keys[sent], dedup->tunnel_count - dedup->every_id_count,
		      sizeof(struct tunnel_key), tunnel_key_compare);
	for (size_t i = 0; i < dedup->link_count; i++)
		dedup->has_ppp |= dedup->links[i].up && dedup->links[i].ppp;
}

static void
lower_dedup_clear(struct lower_dedup *dedup)
{
	for (size_t i = 0; i < dedup->device_count; i++)
		free(dedup->devices[i].upper_addresses);
	free(dedup->devices);
	dedup->devices = NULL;
	dedup->device_count = 0;
	dedup->hint = 0;
	free(dedup->tunnels);
	dedup->tunnels = NULL;
	dedup->tunnel_count = dedup->every_id_count = 0;
	for (unsigned sent = 0; sent < 2; sent++) {
		free(dedup->tunnel_keys[sent]);
		dedup->tunnel_keys[sent] = NULL;
	}
	dedup->has_ppp = false;
	free(dedup->ppp_addresses);
	dedup->ppp_addresses = NULL;
	dedup->ppp_address_count = 0;
}

static int
lower_device_compare(const void *a, const void *b)
{
	const struct lower_device *one = a, *other = b;

	return (one->ifindex > other->ifindex) - (one->ifindex < other->ifindex);
}

static void
lower_dedup_rebuild(struct lower_dedup *dedup)
{
	dedup->rebuild_needed = false;
	lower_dedup_clear(dedup);
	dedup->link_count = 0;
	interfaces_visit(dedup->interfaces, lower_dedup_collect_link, dedup);
	/* A link has at most one master and one carrier: two entries each. */
	dedup->devices = calloc(2 * dedup->link_count + 1, sizeof *dedup->devices);
	dedup->tunnels = calloc(dedup->link_count + 1, sizeof *dedup->tunnels);
	for (unsigned sent = 0; sent < 2; sent++)
		dedup->tunnel_keys[sent] = calloc(dedup->link_count + 1, sizeof(struct tunnel_key));
	dedup->ppp_addresses = calloc(dedup->address_count + 1, sizeof *dedup->ppp_addresses);
	if (dedup->devices == NULL || dedup->tunnels == NULL || dedup->tunnel_keys[0] == NULL ||
	    dedup->tunnel_keys[1] == NULL || dedup->ppp_addresses == NULL) {
		log_warning("out of memory: frames on \"any\" may be observed twice");
		return;
	}
	lower_dedup_link_devices(dedup);
	lower_dedup_collect_tunnels(dedup);
	lower_dedup_collect_ppp(dedup);
	for (size_t i = 0; i < dedup->device_count; i++) {
		struct lower_device *device = &dedup->devices[i];
		const struct interface_info *link = interfaces_find_info(dedup->interfaces, device->ifindex);

		dedup->hint |= 1ull << (device->ifindex & 63);
		if (device->carries && link != NULL && dedup->address_count > 0)
			device->upper_addresses = calloc(2 * dedup->address_count, sizeof *device->upper_addresses);
		if (device->upper_addresses != NULL)
			lower_dedup_collect_upper(dedup, device, link, 0);
		if (device->count > 0)
			qsort(device->upper_addresses, device->count, sizeof *device->upper_addresses,
			      interface_address_compare);
		log_debug(DEBUG_HOST, "interface %s is a lower device (%s%s): duplicates captured on it are ignored",
			  link != NULL ? link->name : "?", device->enslaved ? "a port" : "",
			  device->carries ? device->enslaved ? ", carries others" : "carries others" : "");
	}
	qsort(dedup->devices, dedup->device_count, sizeof *dedup->devices, lower_device_compare);
}

static void
lower_dedup_on_change(void *context)
{
	struct lower_dedup *dedup = context;

	dedup->rebuild_needed = true;
}

struct lower_dedup *
lower_dedup_new(struct interfaces *interfaces)
{
	struct lower_dedup *dedup = calloc(1, sizeof *dedup);

	if (dedup == NULL)
		return NULL;
	dedup->interfaces = interfaces;
	dedup->rebuild_needed = true;
	dedup->subscriber = (struct interfaces_subscriber){.changed = lower_dedup_on_change, .context = dedup};
	interfaces_subscribe(interfaces, &dedup->subscriber);
	return dedup;
}

void
lower_dedup_free(struct lower_dedup *dedup)
{
	if (dedup == NULL)
		return;
	interfaces_unsubscribe(dedup->interfaces, &dedup->subscriber);
	lower_dedup_clear(dedup);
	free(dedup->links);
	free(dedup->addresses);
	free(dedup);
}

/* ---------------------------------------------------------------------------------------------------------- lookups */

bool
lower_dedup_is_active(struct lower_dedup *dedup)
{
	if (dedup->rebuild_needed)
		lower_dedup_rebuild(dedup);
	return dedup->device_count > 0 || dedup->tunnel_count > 0 || dedup->has_ppp;
}

bool
lower_dedup_is_candidate(struct lower_dedup *dedup, const struct packet *packet)
{
	return (lower_dedup_hint(dedup) >> (packet->frame->interface->ifindex & 63) & 1) != 0 ||
	       (dedup->has_ppp && packet->ether.type == ETH_P_PPP_SES);
}

uint64_t
lower_dedup_hint(struct lower_dedup *dedup)
{
	if (dedup->rebuild_needed)
		lower_dedup_rebuild(dedup);
	return dedup->hint;
}

/* Whether an address, sent from or to, belongs to an interface above. */
static bool
lower_device_has_upper_address(const struct lower_device *device, uint8_t version, const uint8_t addr[16], bool sent)
{
	const struct interface_address *found =
	    interface_address_find(device->upper_addresses, device->count, version, addr);

	return found != NULL && (sent || !found->sends_only);
}

/* This host's addresses in the packet: at most the source and the destination. */
struct host_addresses {
	unsigned count;
	uint8_t version;
	uint8_t addr[2][16];
};

static void
host_addresses_collect(struct host_addresses *host, const struct packet *p, struct locality locality)
{
	struct slice slice;

	*host = (struct host_addresses){.version = p->network == NETWORK_ARP ? 4 : p->ip.version};
	if (p->network == NETWORK_ARP) {
		slice = locality.source_local ? p->arp.spa : p->arp.tpa;
		slice_copy(slice, 0, host->addr[0], slice.len < 16 ? slice.len : 16);
		host->count = 1;
		return;
	}
	if (locality.source_local)
		memcpy(host->addr[host->count++], p->ip.src, 16);
	if (locality.destination_local)
		memcpy(host->addr[host->count++], p->ip.dst, 16);
}

/* Whether this host's address in the packet belongs to an interface above. */
static bool
lower_device_carries_upper(const struct lower_device *device, const struct packet *p, struct locality locality)
{
	struct host_addresses host;

	host_addresses_collect(&host, p, locality);
	for (unsigned i = 0; i < host.count; i++)
		if (lower_device_has_upper_address(device, host.version, host.addr[i], p->direction == DIRECTION_OUT))
			return true;
	return false;
}

/* Whether this host's address in the packet, which a PPPoE frame carries, belongs to a PPP interface. */
static bool
lower_dedup_is_on_ppp(const struct lower_dedup *dedup, const struct packet *p, struct locality locality)
{
	struct host_addresses host;

	host_addresses_collect(&host, p, locality);
	for (unsigned i = 0; i < host.count; i++)
		if (interface_address_find(dedup->ppp_addresses, dedup->ppp_address_count, host.version,
					   host.addr[i]) != NULL)
			return true;
	return false;
}

static const struct lower_device *
lower_dedup_find_device(const struct lower_dedup *dedup, uint32_t ifindex)
{
	struct lower_device wanted = {.ifindex = ifindex};

	return bsearch(&wanted, dedup->devices, dedup->device_count, sizeof *dedup->devices, lower_device_compare);
}

bool
lower_dedup_is_duplicate(struct lower_dedup *dedup, const struct packet *packet, struct locality locality)
{
	const struct lower_device *device;

	if (!lower_dedup_is_active(dedup) || packet->network == NETWORK_NONE)
		return false;
	device = lower_dedup_find_device(dedup, packet->frame->interface->ifindex);
	if (device != NULL && device->redirects)
		return true;
	if (!locality.source_local && !locality.destination_local)
		return false;
	if (dedup->has_ppp && packet->ether.type == ETH_P_PPP_SES && lower_dedup_is_on_ppp(dedup, packet, locality))
		return true;
	return device != NULL &&
	       (device->enslaved || (device->carries && lower_device_carries_upper(device, packet, locality)));
}

/* Whether a tunnel with one id matches, of those to `remote` (zero: to any address).  `group`: to whichever address. */
static bool
lower_dedup_has_tunnel_to(const struct lower_dedup *dedup, const struct packet *outer, const uint8_t remote[16],
			  bool group)
{
	const struct tunnel_key *keys = dedup->tunnel_keys[outer->direction == DIRECTION_OUT];
	size_t count = dedup->tunnel_count - dedup->every_id_count, low = 0, high = count;
	struct tunnel_key wanted = {.id = outer->inner_id};

	memcpy(wanted.remote, remote, sizeof wanted.remote);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tunnel_key_compare(&keys[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && keys[low].id == wanted.id &&
	       (group || memcmp(keys[low].remote, remote, sizeof wanted.remote) == 0);
	     low++)
		if (tunnel_device_matches(&dedup->tunnels[keys[low].index], outer))
			return true;
	return false;
}

/* A host may have thousands of tunnel devices, each with an id or another end of its own. */
static bool
lower_dedup_has_tunnel(const struct lower_dedup *dedup, const struct packet *outer)
{
	static const uint8_t any[16];
	const uint8_t *remote = outer->direction == DIRECTION_OUT ? outer->ip.dst : outer->ip.src;

	for (size_t i = 0; i < dedup->every_id_count; i++)
		if (tunnel_device_matches(&dedup->tunnels[i], outer))
			return true;
	if (tunnel_device_is_group(&outer->ip))
		return lower_dedup_has_tunnel_to(dedup, outer, any, true);
	return lower_dedup_has_tunnel_to(dedup, outer, remote, false) ||
	       lower_dedup_has_tunnel_to(dedup, outer, any, false);
}

bool
lower_dedup_is_inner_duplicate(struct lower_dedup *dedup, const struct packet *outer, struct locality locality)
{
	if (!lower_dedup_is_active(dedup) ||
	    !(outer->direction == DIRECTION_OUT ? locality.source_local : locality.destination_local))
		return false;
	return lower_dedup_has_tunnel(dedup, outer);
}
