/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------- requests */

static void
smb_request_remove(struct smb_tables *tables, uint32_t index)
{
	tables->request[index] = tables->request[--tables->requests];
}

static uint32_t
smb_request_oldest(const struct smb_tables *tables)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < tables->requests; i++)
		if (tables->request[i].begun < tables->request[oldest].begun)
			oldest = i;
	return oldest;
}

bool
smb_request_take(struct smb_tables *tables, uint64_t message_id, struct smb_request *request)
{
	for (uint32_t i = 0; i < tables->requests; i++) {
		if (tables->request[i].message_id == message_id) {
			*request = tables->request[i];
			smb_request_remove(tables, i);
			return true;
		}
	}
	return false;
}

bool
smb_request_add(struct smb_tables *tables, const struct smb_request *request)
{
	struct smb_request same;
	bool full;

	smb_request_take(tables, request->message_id, &same);
	full = tables->requests == SMB_REQUESTS_MAX;
	if (full)
		smb_request_remove(tables, smb_request_oldest(tables));
	tables->request[tables->requests++] = *request;
	return full;
}

/* --------------------------------------------------------------------------------------------------------- shares */

/* When an entry gives its place to a new one, the lowest first: free ones, those that have ended, the others. */
static uint64_t
smb_place_rank(enum smb_state state, uint32_t touched)
{
	uint64_t rank = state > SMB_ENDED ? SMB_ASKED : state;

	return rank << 32 | touched;
}

/* The entry that gives its place to a new one. */
static struct smb_share *
smb_share_place(struct smb_tables *tables, bool *dropped)
{
	struct smb_share *share = &tables->share[0];

	for (uint32_t i = 1; i < SMB_SHARES_MAX; i++)
		if (smb_place_rank(tables->share[i].state, tables->share[i].touched) <
		    smb_place_rank(share->state, share->touched))
			share = &tables->share[i];
	*dropped |= share->state > SMB_ENDED;
	return share;
}

uint8_t
smb_share_new(struct smb_tables *tables, uint64_t session_id, struct slice path, bool *dropped)
{
	struct smb_share *share = smb_share_place(tables, dropped);

	*share = (struct smb_share){.session_id = session_id,
				    .use = ++tables->uses,
				    .touched = ++tables->clock,
				    .state = SMB_ASKED};
	smb_text(share->path, sizeof share->path, path);
	return (uint8_t)(share - tables->share + 1);
}

uint8_t
smb_share_copy(struct smb_tables *tables, const struct smb_share *other, bool *dropped)
{
	struct smb_share *share = smb_share_place(tables, dropped);

	*share = *other;
	share->use = ++tables->uses;
	share->touched = ++tables->clock;
	return (uint8_t)(share - tables->share + 1);
}

struct smb_share *
smb_share_at(struct smb_tables *tables, uint8_t number, uint32_t use)
{
	if (number == 0 || tables->share[number - 1].use != use)
		return NULL;
	return &tables->share[number - 1];
}

uint8_t
smb_share_find(struct smb_tables *tables, uint64_t session_id, uint32_t tree_id, uint64_t opened)
{
	for (uint32_t i = 0; i < SMB_SHARES_MAX; i++) {
		struct smb_share *share = &tables->share[i];

		if (share->state == SMB_OPEN && share->tree_id == tree_id && share->session_id == session_id &&
		    share->opened <= opened) {
			share->touched = ++tables->clock;
			return (uint8_t)(i + 1);
		}
	}
	return 0;
}

void
smb_share_end(struct smb_tables *tables, uint64_t session_id, uint32_t tree_id, uint64_t opened)
{
	uint8_t share = smb_share_find(tables, session_id, tree_id, opened);

	if (share != 0)
		tables->share[share - 1].state = SMB_ENDED;
}

void
smb_share_connect(struct smb_share *share, uint64_t session_id, uint32_t tree_id, uint64_t opened)
{
	share->state = SMB_OPEN;
	share->opened = opened;
	share->session_id = session_id;
	share->tree_id = tree_id;
}

/* ---------------------------------------------------------------------------------------------------------- files */

/* The entry that gives its place to a new one. */
static struct smb_file *
smb_file_place(struct smb_tables *tables, bool *dropped)
{
	struct smb_file *file = &tables->file[0];

	for (uint32_t i = 1; i < SMB_FILES_MAX; i++)
		if (smb_place_rank(tables->file[i].state, tables->file[i].touched) <
		    smb_place_rank(file->state, file->touched))
			file = &tables->file[i];
	*dropped |= file->state > SMB_ENDED;
	return file;
}

uint8_t
smb_file_new(struct smb_tables *tables, uint64_t session_id, struct slice path, bool *dropped)
{
	struct smb_file *file = smb_file_place(tables, dropped);

	file->session_id = session_id;
	file->use = ++tables->uses;
	file->touched = ++tables->clock;
	file->state = SMB_ASKED;
	smb_text(file->path, sizeof file->path, path);
	return (uint8_t)(file - tables->file + 1);
}

uint8_t
smb_file_copy(struct smb_tables *tables, const struct smb_file *other, bool *dropped)
{
	struct smb_file *file = smb_file_place(tables, dropped);

	*file = *other;
	file->use = ++tables->uses;
	file->touched = ++tables->clock;
	return (uint8_t)(file - tables->file + 1);
}

struct smb_file *
smb_file_at(struct smb_tables *tables, uint8_t number, uint32_t use)
{
	if (number == 0 || tables->file[number - 1].use != use)
		return NULL;
	return &tables->file[number - 1];
}

uint8_t
smb_file_find(struct smb_tables *tables, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES], uint64_t opened)
{
	for (uint32_t i = 0; i < SMB_FILES_MAX; i++) {
		struct smb_file *file = &tables->file[i];

		if (file->state == SMB_OPEN && file->session_id == session_id &&
		    memcmp(file->id, id, sizeof file->id) == 0 && file->opened <= opened) {
			file->touched = ++tables->clock;
			return (uint8_t)(i + 1);
		}
	}
	return 0;
}

void
smb_file_end(struct smb_tables *tables, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES], uint64_t opened)
{
	uint8_t file = smb_file_find(tables, session_id, id, opened);

	if (file != 0)
		tables->file[file - 1].state = SMB_ENDED;
}

void
smb_file_open(struct smb_file *file, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES], uint64_t opened)
{
	file->state = SMB_OPEN;
	file->opened = opened;
	file->session_id = session_id;
	memcpy(file->id, id, SMB_FILE_ID_BYTES);
}

void
smb_tables_end_session(struct smb_tables *tables, uint64_t session_id)
{
	for (uint32_t i = 0; i < SMB_SHARES_MAX; i++)
		if (tables->share[i].state > SMB_ENDED && tables->share[i].session_id == session_id)
			tables->share[i].state = SMB_ENDED;
	for (uint32_t i = 0; i < SMB_FILES_MAX; i++)
		if (tables->file[i].state > SMB_ENDED && tables->file[i].session_id == session_id)
			tables->file[i].state = SMB_ENDED;
}
