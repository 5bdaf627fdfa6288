/* SPDX-License-Identifier: BSD-2-Clause */
/* Identities of a connection that are the same in every run, on every machine and, as far as packets show it, on every
 * host: pure functions of the flow key. */
#ifndef NETOBS_PROBES_ARGS_CONNECTION_ID_H
#define NETOBS_PROBES_ARGS_CONNECTION_ID_H

#include "flow/flow.h"

/* What distinguishes connections that have the same key. */
struct connection_origin {
	bool isn_known;	 /* TCP: the initial sequence number of the client was captured */
	uint32_t isn;	 /* that number */
	uint64_t start;	 /* time stamp of the first packet, ns since the epoch: the origin if `isn_known` is false */
};

/* XXH3 of the key and the origin, without a secret. */
uint64_t connection_uid(const struct flow_key *key, const struct connection_origin *origin);

/* Bytes of a Community ID with its NUL: "1:" and the base64 of a SHA-1 digest. */
#define COMMUNITY_ID_SIZE 31

/* Community ID, version 1 with seed 0 (github.com/corelight/community-id-spec): of the addresses, the ports and the
 * protocol; a tunnel makes no difference. */
void connection_community(const struct flow_key *key, char text[COMMUNITY_ID_SIZE]);

#endif
