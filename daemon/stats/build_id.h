/* SPDX-License-Identifier: BSD-2-Clause */
/* Identity of the running binary.  If the file has been replaced since the start, a tracer attached to the new file
 * sees no firings. */
#ifndef NETOBS_DAEMON_STATS_BUILD_ID_H
#define NETOBS_DAEMON_STATS_BUILD_ID_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct build_id {
	char hex[2 * 64 + 1]; /* the linker's build id in hexadecimal, "" if there is none */
	char path[PATH_MAX];  /* path of the binary at start, "" if unknown */
	uint64_t inode;	      /* 0 if unknown */
	uint64_t device;
};

/* Call it at start, while /proc is readable. */
void build_id_read(struct build_id *id);

/* Whether the file at that path is a different one now. */
bool build_id_is_replaced(const struct build_id *id);

#endif
