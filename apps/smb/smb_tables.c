/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_tables.h"

#include <string.h>

#include "apps/smb/smb_names.h"

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

uint8_t
smb_share_new(struct smb_tables *tables, uint64_t session_id, struct slice path, bool *dropped)
{
	struct smb_share *share = &tables->share[0];

	for (uint32_t i = 1; i < SMB_SHARES_MAX && share->use != 0; i++)
		if (tables->share[i].use == 0 || tables->share[i].touched < share->touched)
			share = &tables->share[i];
	*dropped |= share->use != 0;
	*share = (struct smb_share){.session_id = session_id, .use = ++tables->uses, .touched = ++tables->clock};
	smb_text(share->path, sizeof share->path, path);
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
smb_share_find(struct smb_tables *tables, uint64_t session_id, uint32_t tree_id)
{
	for (uint32_t i = 0; i < SMB_SHARES_MAX; i++) {
		struct smb_share *share = &tables->share[i];

		if (share->connected && share->tree_id == tree_id && share->session_id == session_id) {
			share->touched = ++tables->clock;
			return (uint8_t)(i + 1);
		}
	}
	return 0;
}

void
smb_share_connect(struct smb_tables *tables, struct smb_share *share, uint64_t session_id, uint32_t tree_id)
{
	uint8_t older = smb_share_find(tables, session_id, tree_id);

	if (older != 0)
		tables->share[older - 1] = (struct smb_share){0};
	if (share == NULL)
		return;
	share->connected = true;
	share->session_id = session_id;
	share->tree_id = tree_id;
}

/* ---------------------------------------------------------------------------------------------------------- files */

uint8_t
smb_file_new(struct smb_tables *tables, uint64_t session_id, struct slice path, bool *dropped)
{
	struct smb_file *file = &tables->file[0];

	for (uint32_t i = 1; i < SMB_FILES_MAX && file->use != 0; i++)
		if (tables->file[i].use == 0 || tables->file[i].touched < file->touched)
			file = &tables->file[i];
	*dropped |= file->use != 0;
	file->session_id = session_id;
	file->use = ++tables->uses;
	file->touched = ++tables->clock;
	file->open = false;
	smb_text(file->path, sizeof file->path, path);
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
smb_file_find(struct smb_tables *tables, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES])
{
	for (uint32_t i = 0; i < SMB_FILES_MAX; i++) {
		struct smb_file *file = &tables->file[i];

		if (file->open && file->session_id == session_id && memcmp(file->id, id, sizeof file->id) == 0) {
			file->touched = ++tables->clock;
			return (uint8_t)(i + 1);
		}
	}
	return 0;
}

void
smb_file_open(struct smb_tables *tables, struct smb_file *file, uint64_t session_id,
	      const uint8_t id[SMB_FILE_ID_BYTES])
{
	uint8_t older = smb_file_find(tables, session_id, id);

	if (older != 0)
		tables->file[older - 1] = (struct smb_file){0};
	if (file == NULL)
		return;
	file->open = true;
	file->session_id = session_id;
	memcpy(file->id, id, sizeof file->id);
}

void
smb_session_drop(struct smb_tables *tables, uint64_t session_id)
{
	for (uint32_t i = 0; i < SMB_SHARES_MAX; i++)
		if (tables->share[i].use != 0 && tables->share[i].session_id == session_id)
			tables->share[i] = (struct smb_share){0};
	for (uint32_t i = 0; i < SMB_FILES_MAX; i++)
		if (tables->file[i].use != 0 && tables->file[i].session_id == session_id)
			tables->file[i] = (struct smb_file){0};
}
