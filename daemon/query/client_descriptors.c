/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/client_descriptors.h"

#include <limits.h>
#include <stddef.h>
#include <unistd.h>

#include "daemon/query/server.h"
#include "probes/feed/feed.h"

_Static_assert(CLIENT_DESCRIPTORS_PRIVILEGED == SERVER_PRIVILEGED_MAX + 2 * SERVER_REFUSED_MAX,
	       "clients that are refused leave the privileged ones their places");

/* Of clients that are not privileged, those of the metrics among them, however few descriptors there are. */
#define OTHERS_LEAST 4u

static unsigned limit = UINT_MAX;
static unsigned count;

unsigned
client_descriptors_wanted(const struct config *config)
{
	unsigned wanted = 0;

	if (config->control_path != NULL)
		wanted += SERVER_DESCRIPTORS_MAX + FEEDS_MAX;
	if (config->metrics_address != NULL)
		wanted += SERVER_DESCRIPTORS_MAX;
	return wanted;
}

void
client_descriptors_limit(unsigned most)
{
	unsigned least = CLIENT_DESCRIPTORS_PRIVILEGED + OTHERS_LEAST;

	limit = most > least ? most : least;
}

void
client_descriptors_add(void)
{
	count++;
}

bool
client_descriptors_exceed(bool privileged)
{
	return count > limit - (privileged ? 0 : CLIENT_DESCRIPTORS_PRIVILEGED);
}

void
client_descriptors_close(int fd)
{
	close(fd);
	count--;
}
