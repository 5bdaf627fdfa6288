/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB 2 and 3 (MS-SMB2): messages, from bytes to fields; what a connection and its session keep; the reader. */
#ifndef NETOBS_APPS_SMB_SMB_H
#define NETOBS_APPS_SMB_SMB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/cursor.h"
#include "flow/stream/app_flow.h"

#define SMB_HEADER_BYTES    64 /* of a plain message (section 2.2.1) */
#define SMB_TRANSFORM_BYTES 52 /* of an encrypted message (section 2.2.41) */

#define SMB_FLAG_RESPONSE 0x1
#define SMB_FLAG_ASYNC	  0x2
#define SMB_FLAG_RELATED  0x4
#define SMB_FLAG_SIGNED	  0x8

/* Commands (section 2.2.1.2). */
enum smb_command {
	SMB_NEGOTIATE,
	SMB_SESSION_SETUP,
	SMB_LOGOFF,
	SMB_TREE_CONNECT,
	SMB_TREE_DISCONNECT,
	SMB_CREATE,
	SMB_CLOSE,
	SMB_FLUSH,
	SMB_READ,
	SMB_WRITE,
	SMB_LOCK,
	SMB_IOCTL,
	SMB_CANCEL,
	SMB_ECHO,
	SMB_QUERY_DIRECTORY,
	SMB_CHANGE_NOTIFY,
	SMB_QUERY_INFO,
	SMB_SET_INFO,
	SMB_OPLOCK_BREAK,
	SMB_COMMANDS,
	SMB_ENCRYPTED = 65535, /* of netobs: the command is not known */
};

#define SMB_STATUS_PENDING	   0x103u
#define SMB_STATUS_MORE_PROCESSING 0xc0000016u

enum smb_kind {
	SMB_KIND_PLAIN,
	SMB_KIND_SMB1,
	SMB_KIND_ENCRYPTED,
	SMB_KIND_COMPRESSED,
	SMB_KIND_SHORT,	   /* fewer bytes than the header has */
	SMB_KIND_UNKNOWN,  /* another protocol id */
	SMB_KIND_BAD_SIZE, /* structure size other than 64 */
	SMB_KIND_BAD_NEXT, /* next message of the chain inside this header, not aligned to 8, or without a header */
};

struct smb_message {
	uint64_t message_id;
	uint64_t session_id;
	uint64_t async_id; /* 0 without SMB_FLAG_ASYNC */
	uint32_t tree_id;  /* 0 with SMB_FLAG_ASYNC */
	uint32_t status;   /* 0 in a request */
	uint32_t flags;
	uint32_t next; /* offset of the next message of the chain, 0 in the last one */
	uint16_t command;
};

/* SMB is little-endian; the getters of a slice read network byte order. */
static inline uint16_t
smb_u16(struct slice s, uint32_t offset)
{
	return __builtin_bswap16(slice_u16(s, offset));
}

static inline uint32_t
smb_u32(struct slice s, uint32_t offset)
{
	return __builtin_bswap32(slice_u32(s, offset));
}

static inline uint64_t
smb_u64(struct slice s, uint32_t offset)
{
	return __builtin_bswap64(slice_u64(s, offset));
}

/* Whether these are certainly the first bytes of a plain or an encrypted message; false if they are fewer than 6. */
bool smb_message_is_certain(struct slice bytes);

/* Parses the header at the start of `bytes`, which belongs to a transport message with `rest` bytes from there.
 * `*message` is all 0 unless the kind is plain, or encrypted: then it holds the session id only. */
enum smb_kind smb_message_parse(struct smb_message *message, struct slice bytes, uint32_t rest);

/* --- What follows the header of a message (section 2.2), as far as the probes need it. --- */

#define SMB_FILE_ID_BYTES 16

/* Bytes of a name that are enough for any probe argument. */
#define SMB_NAME_BYTES 510u

struct smb_body {
	struct slice name; /* UTF-16LE path of a share or file in a request; empty if `bytes` end before it does */
	uint64_t offset;   /* read, write: first byte in the file */
	uint32_t count;	   /* read, write: bytes */
	uint16_t dialect;  /* negotiate response */
	bool has_file;
	bool binding; /* session setup request: the connection is to be a channel of a session that exists */
	uint8_t file_id[SMB_FILE_ID_BYTES];
};

enum smb_body_result {
	SMB_BODY_COMPLETE,
	SMB_BODY_CUT,	/* the capture has fewer bytes than the message: the fields are 0 */
	SMB_BODY_ERROR, /* an error response, or one that has no fields of interest: the fields are 0 */
	SMB_BODY_BAD,	/* shorter than its command demands, or lengths that lie: the fields are 0 */
};

/* Parses a message from its header on: `bytes` are the first ones of `length`, `message` is its header. */
enum smb_body_result smb_body_parse(struct smb_body *body, const struct smb_message *message, struct slice bytes,
				    uint32_t length);

/*
 * State of an SMB connection: requests that wait for their response, shares, open files (sessions have those of other
 * connections).  Bounded: if a table is full, the request that has waited longest is dropped, or the share or file
 * that has not been used for longest. Entries are numbered from 1; 0 is unused.  The entry of a share or file that is
 * closed, or was refused, stays until its place is needed: requests that were sent before still have its path.
 */

#define SMB_REQUESTS_MAX 128u
#define SMB_SHARES_MAX	 16u
#define SMB_FILES_MAX	 64u

#define SMB_SHARE_TEXT_MAX 128 /* with the NUL */
#define SMB_PATH_TEXT_MAX  256 /* likewise */

struct smb_request {
	uint64_t message_id, session_id, begun, offset;
	uint64_t opened; /* shares and files that servers had accepted before the request */
	uint32_t tree_id, count;
	uint32_t file_use, share_use; /* `use` of the entry at the request: it may hold another file later */
	uint16_t command;
	uint8_t file, share; /* 0 none */
	bool whole;	     /* its fields were captured */
	bool has_file;	     /* `file_id` is one of the server's */
	bool binding;	     /* session setup: of a channel */
	uint8_t file_id[SMB_FILE_ID_BYTES];
};

enum smb_state {
	SMB_FREE,
	SMB_ENDED, /* it is closed, or was refused */
	SMB_ASKED, /* the client has sent its request */
	SMB_OPEN,  /* the server has sent its id */
};

struct smb_share {
	uint64_t session_id;
	uint64_t opened; /* number of the share or file among those that servers have accepted, on all connections */
	uint32_t tree_id;
	uint32_t use;	 /* number of the use of the entry */
	uint32_t touched; /* clock of the tables when it was last used */
	enum smb_state state;
	char path[SMB_SHARE_TEXT_MAX];
};

struct smb_file {
	uint64_t session_id, opened; /* likewise */
	uint32_t use, touched; /* likewise */
	enum smb_state state;
	uint8_t id[SMB_FILE_ID_BYTES];
	char path[SMB_PATH_TEXT_MAX];
};

/* Zero at first. */
struct smb_tables {
	uint32_t clock, uses;
	uint32_t requests;
	struct smb_request request[SMB_REQUESTS_MAX];
	struct smb_share share[SMB_SHARES_MAX];
	struct smb_file file[SMB_FILES_MAX];
};

/* Stores a request; true if the table was full and another one was dropped.  An older request with the same message id
 * is dropped, too. */
bool smb_request_add(struct smb_tables *tables, const struct smb_request *request);

/* Takes the request with that message id out of the table; false if there is none. */
bool smb_request_take(struct smb_tables *tables, uint64_t message_id, struct smb_request *request);

/* Stores a share or file that a client requests; sets `*dropped` if the table was full and another one was dropped. */
uint8_t smb_share_new(struct smb_tables *tables, uint64_t session_id, struct slice path, bool *dropped);
uint8_t smb_file_new(struct smb_tables *tables, uint64_t session_id, struct slice path, bool *dropped);

/* Stores an entry of the tables of another connection likewise. */
uint8_t smb_share_copy(struct smb_tables *tables, const struct smb_share *other, bool *dropped);
uint8_t smb_file_copy(struct smb_tables *tables, const struct smb_file *other, bool *dropped);

/* The entry of a request; NULL if none or if the entry holds another share or file now. */
struct smb_share *smb_share_at(struct smb_tables *tables, uint8_t number, uint32_t use);
struct smb_file *smb_file_at(struct smb_tables *tables, uint8_t number, uint32_t use);

/* The server has accepted the request of `share` or `file` and sent the ids, which no other entry has. */
void smb_share_connect(struct smb_share *share, uint64_t session_id, uint32_t tree_id, uint64_t opened);
void smb_file_open(struct smb_file *file, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES], uint64_t opened);

/* Finds an entry that the server has accepted, if its number is at most `opened`; 0 none. */
uint8_t smb_share_find(struct smb_tables *tables, uint64_t session_id, uint32_t tree_id, uint64_t opened);
uint8_t smb_file_find(struct smb_tables *tables, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES],
		      uint64_t opened);

/* Ends the entry that smb_share_find() or smb_file_find() finds. */
void smb_share_end(struct smb_tables *tables, uint64_t session_id, uint32_t tree_id, uint64_t opened);
void smb_file_end(struct smb_tables *tables, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES], uint64_t opened);

/* Ends the shares and files of a session that has ended. */
void smb_tables_end_session(struct smb_tables *tables, uint64_t session_id);

/* --- The reader: byte streams, direct or over NetBIOS (RFC 1002 section 4.3), to operations. --- */

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
	bool cut;	  /* bytes after those in `bytes` are missing in the capture */
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

/*
 * Sessions and their channels (MS-SMB2 section 3.3.1.8): shares and files belong to a session, so each connection that
 * is a channel of it has those that another channel has opened.
 *
 * Only the server's word makes a connection a channel: a request with the id of a session proves nothing.  The names
 * stay in the tables of the connections (struct smb_tables): a channel copies what another one knows when it needs it,
 * and what ends, ends on all channels.  Bounded: the session that has not been used for longest is forgotten with its
 * names, as one of its channels could end what the others do not see.
 */

/* Sessions of all workers, and channels of one. */
#define SMB_SESSIONS_MAX 4096u
#define SMB_CHANNELS_MAX 32u

/* app_reader.open(), close(), clear() and shared_size().  In the other functions ctx->shared is what open() returns,
 * and ctx->state the connection. */
void *smb_sessions_open(const struct app_settings *settings);
void smb_sessions_close(void *sessions);
void smb_sessions_clear(void *sessions);
size_t smb_sessions_size(const struct app_settings *settings);

/* Number of shares and files that servers have accepted so far. */
uint64_t smb_sessions_opened(const struct app_context *ctx);

bool smb_session_has_channel(const struct app_context *ctx, uint64_t session_id);

/* The server has done what was asked for in the session, or has set it up on the connection (`bound`).  The connection
 * is a channel now; without `bound` only if its setup may not have been captured, or if the client's address is that of
 * the session's first channel.  True if the names of another session were dropped, or if it has too many channels. */
bool smb_session_join(const struct app_context *ctx, uint64_t session_id, bool bound);

/* The session has ended, or it is a new one with an id that was used before. */
void smb_session_end(const struct app_context *ctx, uint64_t session_id);

/* Finds a share or file that the server has accepted before the count `opened`, on whichever channel: its number in the
 * tables of the connection; 0 none.  Sets `*dropped` as smb_file_copy() does. */
uint8_t smb_session_find_share(const struct app_context *ctx, uint64_t session_id, uint32_t tree_id, uint64_t opened,
			       bool *dropped);
uint8_t smb_session_find_file(const struct app_context *ctx, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES],
			      uint64_t opened, bool *dropped);

/* The server has accepted the request of `share` or `file`, NULL if that is not known, and sent the ids.  An older
 * entry with these ids ends on all channels: its end was not captured. */
void smb_session_connect(const struct app_context *ctx, struct smb_share *share, uint64_t session_id, uint32_t tree_id);
void smb_session_open_file(const struct app_context *ctx, struct smb_file *file, uint64_t session_id,
			   const uint8_t id[SMB_FILE_ID_BYTES]);

/* Ends the share or file on all channels, if the server has accepted it before the count `opened`. */
void smb_session_end_share(const struct app_context *ctx, uint64_t session_id, uint32_t tree_id, uint64_t opened);
void smb_session_end_file(const struct app_context *ctx, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES],
			  uint64_t opened);

/* --- Numbers in words, and UTF-16 as UTF-8. --- */

/* "tree-connect"; NULL unknown. */
const char *smb_command_name(uint16_t command);

/* "STATUS_ACCESS_DENIED" (MS-ERREF section 2.3.1); NULL if it is not listed. */
const char *smb_status_name(uint32_t status);

/* "3.1.1"; NULL unknown. */
const char *smb_dialect_name(uint16_t dialect);

/* Writes little-endian UTF-16 as UTF-8 with a NUL at its end, as many whole characters as `size` bytes hold.  A NUL
 * and half a surrogate pair become U+FFFD. */
void smb_text(char *to, size_t size, struct slice utf16);

/* Fills the argument of the smb probes. */
struct smbopinfo;
void args_smbopinfo(struct smbopinfo *info, const struct smb_operation *operation);

#endif
