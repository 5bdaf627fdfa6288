/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/host/lower_dedup.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/array.h"
#include "daemon/base/log.h"

/* Deepest stack followed (VLAN on bond on bridge ...). */
#define DEPTH_MAX 8

struct place {
	uint32_t ifindex;
	uint8_t version;
	uint8_t addr[16];
};

struct lower {
	uint32_t ifindex;
	bool port;	     /* a port: frames for this host also pass through its master */
	bool carries;	     /* carries VLAN devices */
	struct place *above; /* addresses of the interfaces above it that it does not have itself */
	size_t count;
};

struct uppers {
	struct interfaces *interfaces;
	struct interfaces_follower follower;
	bool stale; /* `lowers` must be rebuilt */
	struct place *places;
	size_t place_count, place_room;
	struct link_facts *links; /* used while `lowers` is rebuilt */
	size_t link_count, link_room;
	struct lower *lowers; /* sorted by interface index */
	size_t lower_count;
};

static bool
same_address(const struct place *place, uint8_t version, const uint8_t addr[16])
{
	return place->version == version && memcmp(place->addr, addr, sizeof place->addr) == 0;
}

/* -------------------------------------------------------------------------------------------------------- addresses */

bool
uppers_add_address(struct uppers *uppers, uint32_t ifindex, uint8_t version, const uint8_t addr[16])
{
	struct place *place;
	void *array;

	if (uppers == NULL)
		return true;
	array = uppers->places;
	if (!room_for_one(&array, uppers->place_count, &uppers->place_room, sizeof *place))
		return false;
	uppers->places = array;
	place = &uppers->places[uppers->place_count++];
	*place = (struct place){.ifindex = ifindex, .version = version};
	memcpy(place->addr, addr, sizeof place->addr);
	uppers->stale = true;
	return true;
}

void
uppers_remove_address(struct uppers *uppers, uint32_t ifindex, uint8_t version, const uint8_t addr[16])
{
	if (uppers == NULL)
		return;
	for (size_t i = 0; i < uppers->place_count; i++) {
		struct place *place = &uppers->places[i];

		if (place->ifindex != ifindex || !same_address(place, version, addr))
			continue;
		*place = uppers->places[--uppers->place_count];
		uppers->stale = true;
		return;
	}
}

static bool
is_on(const struct uppers *uppers, uint32_t ifindex, const struct place *place)
{
	for (size_t i = 0; i < uppers->place_count; i++)
		if (uppers->places[i].ifindex == ifindex &&
		    same_address(&uppers->places[i], place->version, place->addr))
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------------- lower interfaces */

static void
note_link(void *context, const struct link_facts *facts)
{
	struct uppers *uppers = context;
	void *array = uppers->links;

	if (!room_for_one(&array, uppers->link_count, &uppers->link_room, sizeof *facts)) {
		log_warning("out of memory: frames on \"any\" may be observed twice");
		return;
	}
	uppers->links = array;
	uppers->links[uppers->link_count++] = *facts;
}

static struct lower *
lower_of(struct uppers *uppers, uint32_t ifindex)
{
	for (size_t i = 0; i < uppers->lower_count; i++)
		if (uppers->lowers[i].ifindex == ifindex)
			return &uppers->lowers[i];
	uppers->lowers[uppers->lower_count] = (struct lower){.ifindex = ifindex};
	return &uppers->lowers[uppers->lower_count++];
}

static void
collect_addresses(struct uppers *uppers, struct lower *lower, uint32_t ifindex)
{
	for (size_t i = 0; i < uppers->place_count; i++) {
		const struct place *place = &uppers->places[i];

		if (place->ifindex == ifindex && !is_on(uppers, lower->ifindex, place))
			lower->above[lower->count++] = *place;
	}
}

/* Collects the addresses of everything above `link`, directly or indirectly. */
static void
collect_above(struct uppers *uppers, struct lower *lower, const struct link_facts *link, unsigned depth)
{
	for (size_t i = 0; i < uppers->link_count && depth < DEPTH_MAX; i++) {
		const struct link_facts *upper = &uppers->links[i];

		/* A bridge is visited once per path up to it; its addresses are at most as many as there are places. */
		if (!upper->up || (upper->carrier != link->index && upper->index != link->master) ||
		    lower->count > uppers->place_count)
			continue;
		collect_addresses(uppers, lower, upper->index);
		collect_above(uppers, lower, upper, depth + 1);
	}
}

static void
find_relations(struct uppers *uppers)
{
	for (size_t i = 0; i < uppers->link_count; i++) {
		const struct link_facts *link = &uppers->links[i];
		const struct link_facts *master = interfaces_facts(uppers->interfaces, link->master);

		if (link->master != 0 && master != NULL && master->up)
			lower_of(uppers, link->index)->port = true;
		if (link->carrier != 0 && link->up)
			lower_of(uppers, link->carrier)->carries = true;
	}
}

static void
forget_lowers(struct uppers *uppers)
{
	for (size_t i = 0; i < uppers->lower_count; i++)
		free(uppers->lowers[i].above);
	free(uppers->lowers);
	uppers->lowers = NULL;
	uppers->lower_count = 0;
}

static int
by_index(const void *a, const void *b)
{
	const struct lower *one = a, *other = b;

	return (one->ifindex > other->ifindex) - (one->ifindex < other->ifindex);
}

static void
make_lowers(struct uppers *uppers)
{
	uppers->stale = false;
	forget_lowers(uppers);
	uppers->link_count = 0;
	interfaces_visit(uppers->interfaces, note_link, uppers);
	/* A link has at most one master and one carrier: two entries each. */
	uppers->lowers = calloc(2 * uppers->link_count + 1, sizeof *uppers->lowers);
	if (uppers->lowers == NULL) {
		log_warning("out of memory: frames on \"any\" may be observed twice");
		return;
	}
	find_relations(uppers);
	for (size_t i = 0; i < uppers->lower_count; i++) {
		struct lower *lower = &uppers->lowers[i];
		const struct link_facts *link = interfaces_facts(uppers->interfaces, lower->ifindex);

		if (lower->carries && link != NULL && uppers->place_count > 0)
			lower->above = calloc(2 * uppers->place_count, sizeof *lower->above);
		if (lower->above != NULL)
			collect_above(uppers, lower, link, 0);
	}
	qsort(uppers->lowers, uppers->lower_count, sizeof *uppers->lowers, by_index);
}

static void
links_changed(void *context)
{
	struct uppers *uppers = context;

	uppers->stale = true;
}

struct uppers *
uppers_new(struct interfaces *interfaces)
{
	struct uppers *uppers = calloc(1, sizeof *uppers);

	if (uppers == NULL)
		return NULL;
	uppers->interfaces = interfaces;
	uppers->stale = true;
	uppers->follower = (struct interfaces_follower){.changed = links_changed, .context = uppers};
	interfaces_follow(interfaces, &uppers->follower);
	return uppers;
}

void
uppers_free(struct uppers *uppers)
{
	if (uppers == NULL)
		return;
	interfaces_unfollow(uppers->interfaces, &uppers->follower);
	forget_lowers(uppers);
	free(uppers->links);
	free(uppers->places);
	free(uppers);
}

/* -------------------------------------------------------------------------------------------------------- questions */

bool
uppers_any(struct uppers *uppers)
{
	if (uppers->stale)
		make_lowers(uppers);
	return uppers->lower_count > 0;
}

static bool
is_above(const struct lower *lower, uint8_t version, const uint8_t addr[16])
{
	for (size_t i = 0; i < lower->count; i++)
		if (same_address(&lower->above[i], version, addr))
			return true;
	return false;
}

/* Whether this host's address in the packet belongs to an interface above. */
static bool
is_of_upper(const struct lower *lower, const struct packet *p, struct sides sides)
{
	uint8_t addr[16] = {0};
	struct view view;

	if (p->network != NETWORK_ARP)
		return (sides.source_local && is_above(lower, p->ip.version, p->ip.src)) ||
		       (sides.destination_local && is_above(lower, p->ip.version, p->ip.dst));
	view = sides.source_local ? p->arp.spa : p->arp.tpa;
	view_copy(view, 0, addr, view.len < sizeof addr ? view.len : sizeof addr);
	return is_above(lower, 4, addr);
}

bool
uppers_has_copy(struct uppers *uppers, const struct packet *packet, struct sides sides)
{
	struct lower wanted = {.ifindex = packet->frame->interface->ifindex};
	const struct lower *lower;

	if (!uppers_any(uppers) || packet->network == NETWORK_NONE || (!sides.source_local && !sides.destination_local))
		return false;
	lower = bsearch(&wanted, uppers->lowers, uppers->lower_count, sizeof *uppers->lowers, by_index);
	return lower != NULL && (lower->port || (lower->carries && is_of_upper(lower, packet, sides)));
}
