/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB 2 and 3 (MS-SMB2), direct or behind NetBIOS (RFC 1002 section 4.3): from byte streams to operations. */
#ifndef NETOBS_APPS_SMB_SMB_READER_H
#define NETOBS_APPS_SMB_SMB_READER_H

#include "apps/smb/smb_tables.h"
#include "flow/stream/app_flow.h"

/* The first bytes of a message that are kept: header, fixed part, and a path as long as a probe has room for. */
#define SMB_KEPT_MAX 768u

/* Most messages of one chain. */
#define SMB_CHAIN_MAX 128u

#define SMB_TRANSPORT_BYTES 4u

/* One direction. */
struct smb_stream {
	uint8_t transport[SMB_TRANSPORT_BYTES], transport_have; /* type and length of a transport message */
	bool lost;	  /* the place at which the next transport message begins is not known */
	bool skipping;	  /* the rest of the transport message is not read */
	bool parsed;	  /* `message` and `kind` are known */
	bool cut;	  /* bytes behind those in `bytes` are missing in the capture */
	uint32_t left;	  /* bytes of the transport message that are not delivered yet */
	uint32_t length;  /* bytes of the message, 0 until it is parsed */
	uint32_t place;	  /* bytes of the message that are delivered or missing */
	uint32_t kept;	  /* of the message, in `bytes` */
	uint32_t chained; /* messages of the chain before this one */
	enum smb_kind kind;
	struct smb_message message;
	uint8_t bytes[SMB_KEPT_MAX];
	/* Of the message before this one in the chain. */
	uint64_t session_id;
	uint32_t tree_id, file_use;
	uint8_t file;
};

struct smb_connection {
	struct smb_stream stream[2]; /* by endpoint */
	struct smb_tables tables;
	uint64_t cid;	  /* connection id of the flow's endpoint 0; it tells whose the memory is */
	uint16_t dialect; /* 0 unknown */
	uint8_t ended;	  /* bit n: the stream of endpoint n has ended */
	bool midstream;	  /* the connection is not read from its beginning */
	bool confirmed;	  /* a message was read: damage in a later one does not make it another protocol */
	bool done;	  /* nothing more is read */
};

/* The message that is reported: a request or a final response. */
struct smb_operation {
	const char *share, *path; /* "" unknown or none */
	uint64_t session_id, message_id, offset;
	int64_t latency_us; /* -1 unknown */
	uint32_t tree_id, count, status, flags;
	uint16_t command, dialect;
	bool from_server, encrypted;
};

/* Reports the complete message of `sender`; app->state is a struct smb_connection. */
void smb_operation_read(struct app_context *app, unsigned sender);

extern const struct app_reader smb_reader;

#endif
