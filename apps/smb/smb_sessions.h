/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions and their channels (MS-SMB2 section 3.3.1.8): shares and files belong to a session, so each connection that
 * is a channel of it has those that another channel has opened.
 *
 * Only the server's word makes a connection a channel: a request with the id of a session proves nothing.  The names
 * stay in the tables of the connections (smb_tables.h): a channel copies what another one knows when it needs it, and
 * what ends, ends on all channels.  Bounded: the session that has not been used for longest is forgotten with its
 * names, as one of its channels could end what the others do not see.
 */
#ifndef NETOBS_APPS_SMB_SMB_SESSIONS_H
#define NETOBS_APPS_SMB_SMB_SESSIONS_H

#include "apps/smb/smb_reader.h"

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

#endif
