/* SPDX-License-Identifier: BSD-2-Clause */
/* For builds without libmnl: nobody is known to own anything. */
#include <errno.h>

#include "daemon/owner.h"

struct owners_limits
owners_limits_default(void)
{
	return (struct owners_limits){0};
}

struct owners *
owners_new(const struct owners_limits *limits, uint64_t seed)
{
	(void)limits;
	(void)seed;
	errno = ENOTSUP;
	return NULL;
}

void
owners_free(struct owners *owners)
{
	(void)owners;
}

void
owners_ask(struct owners *owners, const struct owner_key *key, uint32_t ifindex)
{
	(void)owners;
	(void)key;
	(void)ifindex;
}

bool
owners_find(struct owners *owners, const struct owner_key *key, uint32_t ifindex, struct owner *owner)
{
	(void)owners;
	(void)key;
	(void)ifindex;
	*owner = (struct owner){.pid = -1, .uid = OWNER_UID_UNKNOWN};
	return false;
}

void
owners_wake(struct owners *owners)
{
	(void)owners;
}

int64_t
owners_zone(const struct owners *owners)
{
	(void)owners;
	return -1;
}

struct owners_counters
owners_counters(const struct owners *owners)
{
	(void)owners;
	return (struct owners_counters){0};
}

size_t
owners_memory(const struct owners_limits *limits)
{
	(void)limits;
	return 0;
}
