/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of an SMB connection: requests that wait for their response, shares, open files (smb_sessions.h has those of
 * other connections).  Bounded: if a table is full,
 * the request that has waited longest is dropped, or the share or file that has not been used for longest.
 * Entries are numbered from 1, 0 is none.  The entry of a share or file that is closed, or was refused, stays until its
 * place is needed: requests that were sent before still have its path.
 */
#ifndef NETOBS_APPS_SMB_SMB_TABLES_H
#define NETOBS_APPS_SMB_SMB_TABLES_H

#include "apps/smb/smb_body.h"

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

#endif
