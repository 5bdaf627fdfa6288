/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterates over the chunks of an SCTP packet and the parameters of a chunk (RFC 9260 sections 3.2 and 3.2.1). */
#ifndef NETOBS_DISSECT_TRANSPORT_SCTP_H
#define NETOBS_DISSECT_TRANSPORT_SCTP_H

#include "dissect/packet.h"

/* IANA sctp-parameters: the chunk types that matter to an association. */
enum sctp_chunk_type {
	SCTP_CHUNK_DATA = 0,
	SCTP_CHUNK_INIT = 1,
	SCTP_CHUNK_INIT_ACK = 2,
	SCTP_CHUNK_SACK = 3,
	SCTP_CHUNK_HEARTBEAT = 4,
	SCTP_CHUNK_HEARTBEAT_ACK = 5,
	SCTP_CHUNK_ABORT = 6,
	SCTP_CHUNK_SHUTDOWN = 7,
	SCTP_CHUNK_SHUTDOWN_ACK = 8,
	SCTP_CHUNK_ERROR = 9,
	SCTP_CHUNK_COOKIE_ECHO = 10,
	SCTP_CHUNK_COOKIE_ACK = 11,
	SCTP_CHUNK_SHUTDOWN_COMPLETE = 14,
	SCTP_CHUNK_AUTH = 15,		/* RFC 4895 */
	SCTP_CHUNK_NR_SACK = 16,
	SCTP_CHUNK_I_DATA = 64,		/* RFC 8260 */
	SCTP_CHUNK_ASCONF_ACK = 128,	/* RFC 5061 */
	SCTP_CHUNK_RE_CONFIG = 130,	/* RFC 6525 */
	SCTP_CHUNK_FORWARD_TSN = 192,	/* RFC 3758 */
	SCTP_CHUNK_ASCONF = 193,	/* RFC 5061 */
	SCTP_CHUNK_I_FORWARD_TSN = 194, /* RFC 8260 */
};

/* Flag of ABORT and SHUTDOWN COMPLETE: the verification tag is reflected, that is, the sender's own. */
#define SCTP_FLAG_T 0x01

enum sctp_parameter_type {
	SCTP_PARAMETER_IPV4 = 5,
	SCTP_PARAMETER_IPV6 = 6,
};

/* A chunk, or a parameter (which has no flags). */
struct sctp_chunk {
	uint16_t type;
	uint8_t flags;
	uint16_t length;    /* on the wire, including the 4-byte header, excluding padding */
	struct slice value; /* the bytes after the header, as far as captured */
};

/* A cursor over the chunks of a packet whose transport is SCTP. */
struct cursor sctp_chunks(const struct packet *packet);

/* Takes the next chunk.  False at the end, and at a chunk with an invalid length or a truncated header; the packet's
 * anomalies tell the cases apart. */
bool sctp_chunk_next(struct cursor *c, struct sctp_chunk *chunk);

/* A cursor over the parameters in a chunk's value from `offset` on. */
struct cursor sctp_chunk_parameters(const struct sctp_chunk *chunk, uint32_t offset);

/* Takes the next parameter.  False at the end and if a parameter is malformed. */
bool sctp_parameter_next(struct cursor *c, struct sctp_chunk *parameter);

#endif
