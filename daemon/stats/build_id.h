/* SPDX-License-Identifier: BSD-2-Clause */
/* Which binary this process runs: a tracer on a file that has been replaced since sees nothing of it. */
#ifndef NETOBS_DAEMON_QUERY_BUILD_ID_H
#define NETOBS_DAEMON_QUERY_BUILD_ID_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct build_id {
	char hex[2 * 64 + 1]; /* of the linker's build id, "" if there is none */
	char path[PATH_MAX];  /* where the binary was at the start, "" if unknown */
	uint64_t inode;	      /* 0 if unknown */
	uint64_t device;
};

/* To be called at the start, while /proc can be read. */
void build_id_read(struct build_id *id);

/* Whether another file is at its path by now. */
bool build_id_is_replaced(const struct build_id *id);

#endif
