/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel picks an unused number for each group (PACKET_FANOUT_FLAG_UNIQUEID, Linux 4.12), because joining another
 * program's group would take frames away from that program.  The first socket requests the number, the others join the
 * group.
 *
 * To the kernel an interface that was removed and has returned is a new one.  It gets a new group, even if some workers
 * have not closed their sockets in the old group yet.
 */
#include "capture/fanout.h"

#include <linux/if_packet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/log_debug.h"

struct fanout_group {
	uint32_t ifindex;
	int number;
	unsigned members; /* 0: there is no group */
};

struct fanout {
	pthread_mutex_t mutex;
	struct fanout_group groups[];
};

struct fanout *
fanout_new(size_t interfaces)
{
	struct fanout *fanout = calloc(1, sizeof *fanout + interfaces * sizeof fanout->groups[0]);

	if (fanout != NULL)
		pthread_mutex_init(&fanout->mutex, NULL);
	return fanout;
}

void
fanout_free(struct fanout *fanout)
{
	if (fanout == NULL)
		return;
	pthread_mutex_destroy(&fanout->mutex);
	free(fanout);
}

static bool
fanout_set_option(int fd, unsigned number, unsigned flags)
{
	unsigned argument = number | (PACKET_FANOUT_HASH | flags) << 16;

	return setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &argument, sizeof argument) == 0;
}

/* The caller holds the mutex. */
static bool
fanout_create_group(struct fanout_group *group, uint32_t ifindex, int fd)
{
	int number;
	socklen_t length = sizeof number;

	if (!fanout_set_option(fd, 0, PACKET_FANOUT_FLAG_UNIQUEID) ||
	    getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &number, &length) < 0)
		return false;
	*group = (struct fanout_group){.ifindex = ifindex, .number = number & 0xffff, .members = 1};
	return true;
}

int
fanout_join(struct fanout *fanout, size_t index, uint32_t ifindex, int fd)
{
	struct fanout_group *group = &fanout->groups[index];
	bool joined;
	int number;

	pthread_mutex_lock(&fanout->mutex);
	if (group->members > 0 && group->ifindex == ifindex) {
		joined = fanout_set_option(fd, (unsigned)group->number, 0);
		group->members += joined;
	} else {
		joined = fanout_create_group(group, ifindex, fd);
	}
	number = joined ? group->number : -1;
	if (joined)
		log_debug(DEBUG_CAPTURE, "interface %u: socket %u of fanout group %d, by hash of the connection",
			  (unsigned)ifindex, group->members, number);
	pthread_mutex_unlock(&fanout->mutex);
	return number;
}

void
fanout_leave(struct fanout *fanout, size_t index, int group)
{
	pthread_mutex_lock(&fanout->mutex);
	if (fanout->groups[index].number == group && fanout->groups[index].members > 0)
		fanout->groups[index].members--;
	pthread_mutex_unlock(&fanout->mutex);
}
