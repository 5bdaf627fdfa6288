/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions, and the shares and files of a connection. */
#include "apps/smb/smb.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

#include "flow/flow.h"
#include "flow/memory.h"

#define SMB_SESSION_BUCKETS (2 * SMB_SESSIONS_MAX)

/* An id is unique on its server. */
struct smb_session_key {
	uint64_t id;
	uint8_t server[16];
	uint16_t port, address_space;
	uint32_t version;
};

_Static_assert(sizeof(struct smb_session_key) == 32, "the key has no padding");

/* The memory of a connection may be another one's by now: its cid differs then. */
struct smb_channel {
	struct smb_connection *connection;
	uint64_t cid;
};

/* Index 0 means none. */
struct smb_session {
	struct smb_session_key key;
	uint8_t client[16];	/* address of the client of the first channel */
	uint32_t bucket_next;	/* next in the hash bucket, or in the free list */
	uint32_t newer, older;	/* neighbours by last use */
	uint32_t channels;
	struct smb_channel channel[SMB_CHANNELS_MAX];
};

struct smb_sessions {
	struct smb_session *entries;
	uint32_t bucket[SMB_SESSION_BUCKETS];
	uint32_t sessions_max, newest, oldest, free_head, high_water;
	uint64_t seed;
	uint64_t opened; /* shares and files that servers have accepted */
};

static size_t
smb_sessions_entries_size(uint32_t sessions_max)
{
	return (sessions_max + (size_t)1) * sizeof(struct smb_session);
}

void *
smb_sessions_open(const struct app_settings *settings)
{
	struct smb_sessions *sessions = memory_reserve(sizeof *sessions);

	if (sessions == NULL)
		return NULL;
	sessions->seed = settings->seed;
	sessions->sessions_max = app_settings_share(settings, SMB_SESSIONS_MAX);
	sessions->entries = memory_reserve(smb_sessions_entries_size(sessions->sessions_max));
	if (sessions->entries != NULL)
		return sessions;
	smb_sessions_close(sessions);
	return NULL;
}

void
smb_sessions_close(void *shared)
{
	struct smb_sessions *sessions = shared;

	memory_release(sessions->entries, smb_sessions_entries_size(sessions->sessions_max));
	memory_release(sessions, sizeof *sessions);
}

size_t
smb_sessions_size(const struct app_settings *settings)
{
	return sizeof(struct smb_sessions) +
	       smb_sessions_entries_size(app_settings_share(settings, SMB_SESSIONS_MAX));
}

uint64_t
smb_sessions_opened(const struct app_context *ctx)
{
	return ((const struct smb_sessions *)ctx->shared)->opened;
}

/* ------------------------------------------------------------------------------------------------------- the table */

static uint32_t *
smb_session_bucket(struct smb_sessions *sessions, const struct smb_session_key *key)
{
	return &sessions->bucket[XXH3_64bits_withSeed(key, sizeof *key, sessions->seed) % SMB_SESSION_BUCKETS];
}

static uint32_t
smb_session_number(const struct smb_sessions *sessions, const struct smb_session *session)
{
	return (uint32_t)(session - sessions->entries);
}

static void
smb_session_unlink(struct smb_sessions *sessions, const struct smb_session *session)
{
	if (session->newer != 0)
		sessions->entries[session->newer].older = session->older;
	else
		sessions->newest = session->older;
	if (session->older != 0)
		sessions->entries[session->older].newer = session->newer;
	else
		sessions->oldest = session->newer;
}

static void
smb_session_push(struct smb_sessions *sessions, struct smb_session *session)
{
	uint32_t number = smb_session_number(sessions, session);

	session->newer = 0;
	session->older = sessions->newest;
	if (sessions->newest != 0)
		sessions->entries[sessions->newest].newer = number;
	else
		sessions->oldest = number;
	sessions->newest = number;
}

static struct smb_session_key
smb_session_key_for(const struct app_context *ctx, uint64_t session_id)
{
	const struct flow_key *flow_key = &ctx->flow->key;
	unsigned server = ctx->server_endpoint;
	struct smb_session_key key = {.id = session_id,
				      .port = flow_key->port[server],
				      .address_space = flow_key->address_space,
				      .version = flow_key->version};

	memcpy(key.server, flow_key->addr[server], sizeof key.server);
	return key;
}

/* The session, which is the latest used one now; NULL if it is not known. */
static struct smb_session *
smb_session_find(const struct app_context *ctx, uint64_t session_id)
{
	struct smb_session_key key = smb_session_key_for(ctx, session_id);
	struct smb_sessions *sessions = ctx->shared;
	uint32_t number = *smb_session_bucket(sessions, &key);

	while (number != 0 && memcmp(&sessions->entries[number].key, &key, sizeof key) != 0)
		number = sessions->entries[number].bucket_next;
	if (number == 0)
		return NULL;
	if (sessions->newest != number) {
		smb_session_unlink(sessions, &sessions->entries[number]);
		smb_session_push(sessions, &sessions->entries[number]);
	}
	return &sessions->entries[number];
}

static void
smb_session_remove(struct smb_sessions *sessions, struct smb_session *session)
{
	uint32_t number = smb_session_number(sessions, session), *link = smb_session_bucket(sessions, &session->key);

	while (*link != number)
		link = &sessions->entries[*link].bucket_next;
	*link = session->bucket_next;
	smb_session_unlink(sessions, session);
	session->bucket_next = sessions->free_head;
	sessions->free_head = number;
}

void
smb_sessions_clear(void *shared)
{
	struct smb_sessions *sessions = shared;

	while (sessions->oldest != 0)
		smb_session_remove(sessions, &sessions->entries[sessions->oldest]);
}

/* ---------------------------------------------------------------------------------------------------- the channels */

/* The connection of a channel; NULL if its memory is another one's. */
static struct smb_connection *
smb_channel_get(const struct smb_session *session, uint32_t index)
{
	const struct smb_channel *channel = &session->channel[index];

	return channel->connection->cid == channel->cid ? channel->connection : NULL;
}

static bool
smb_channel_is_alive(const struct smb_session *session, uint32_t index)
{
	const struct smb_connection *connection = smb_channel_get(session, index);

	return connection != NULL && connection->ended != 3;
}

/* The session if the connection is a channel of it, else NULL. */
static struct smb_session *
smb_session_of_channel(const struct app_context *ctx, uint64_t session_id)
{
	struct smb_session *session = smb_session_find(ctx, session_id);

	for (uint32_t i = 0; session != NULL && i < session->channels; i++)
		if (smb_channel_get(session, i) == ctx->state)
			return session;
	return NULL;
}

bool
smb_session_has_channel(const struct app_context *ctx, uint64_t session_id)
{
	return smb_session_of_channel(ctx, session_id) != NULL;
}

/* The session has ended: so have its names. */
static void
smb_session_drop(struct smb_sessions *sessions, struct smb_session *session)
{
	for (uint32_t i = 0; i < session->channels; i++) {
		struct smb_connection *connection = smb_channel_get(session, i);

		if (connection != NULL)
			smb_tables_end_session(&connection->tables, session->key.id);
	}
	smb_session_remove(sessions, session);
}

void
smb_session_end(const struct app_context *ctx, uint64_t session_id)
{
	struct smb_session *session = smb_session_find(ctx, session_id);
	struct smb_connection *connection = ctx->state;

	if (session != NULL)
		smb_session_drop(ctx->shared, session);
	smb_tables_end_session(&connection->tables, session_id);
}

static struct smb_session *
smb_session_new(const struct app_context *ctx, uint64_t session_id, bool *dropped)
{
	struct smb_session_key key = smb_session_key_for(ctx, session_id);
	struct smb_sessions *sessions = ctx->shared;
	uint32_t number, *bucket = smb_session_bucket(sessions, &key);
	struct smb_session *session;

	*dropped = sessions->free_head == 0 && sessions->high_water == sessions->sessions_max;
	if (*dropped)
		smb_session_drop(sessions, &sessions->entries[sessions->oldest]);
	number = sessions->free_head;
	if (number == 0)
		number = ++sessions->high_water;
	else
		sessions->free_head = sessions->entries[number].bucket_next;
	session = &sessions->entries[number];
	session->key = key;
	session->channels = 0;
	session->bucket_next = *bucket;
	memcpy(session->client, ctx->flow->key.addr[1 - ctx->server_endpoint], sizeof session->client);
	*bucket = number;
	smb_session_push(sessions, session);
	return session;
}

/* The place of a channel: of one that has ended, or a new one; NULL if there is none. */
static struct smb_channel *
smb_channel_place(struct smb_session *session, uint64_t cid)
{
	/* A connection whose state was evicted has another one now. */
	for (uint32_t i = 0; i < session->channels; i++)
		if (session->channel[i].cid == cid)
			return &session->channel[i];
	if (session->channels < SMB_CHANNELS_MAX)
		return &session->channel[session->channels++];
	for (uint32_t i = 0; i < session->channels; i++)
		if (!smb_channel_is_alive(session, i))
			return &session->channel[i];
	return NULL;
}

/* Whether a session that the server knows on the connection is this one, which the server has known on others. */
static bool
smb_session_is_same(const struct app_context *ctx, const struct smb_session *session)
{
	const struct smb_connection *connection = ctx->state;

	return connection->midstream || memcmp(session->client, ctx->flow->key.addr[1 - ctx->server_endpoint],
					       sizeof session->client) == 0;
}

/* A session ends with its last channel (section 3.3.7.1). */
static bool
smb_session_is_alive(const struct smb_session *session)
{
	for (uint32_t i = 0; i < session->channels; i++)
		if (smb_channel_is_alive(session, i))
			return true;
	return false;
}

bool
smb_session_join(const struct app_context *ctx, uint64_t session_id, bool bound)
{
	struct smb_session *session = smb_session_of_channel(ctx, session_id);
	struct smb_connection *connection = ctx->state;
	struct smb_channel *channel;
	bool dropped = false;

	if (session != NULL)
		return false;
	session = smb_session_find(ctx, session_id);
	if (session != NULL && !smb_session_is_alive(session)) {
		smb_session_drop(ctx->shared, session);
		session = NULL;
	}
	if (session == NULL)
		session = smb_session_new(ctx, session_id, &dropped);
	else if (!bound && !smb_session_is_same(ctx, session))
		return false;
	channel = smb_channel_place(session, connection->cid);
	if (channel == NULL)
		return bound;
	*channel = (struct smb_channel){connection, connection->cid};
	return dropped;
}

/* ------------------------------------------------------------------------------------------------ shares and files */

uint8_t
smb_session_find_share(const struct app_context *ctx, uint64_t session_id, uint32_t tree_id, uint64_t opened,
		       bool *dropped)
{
	struct smb_connection *connection = ctx->state;
	uint8_t share = smb_share_find(&connection->tables, session_id, tree_id, opened);
	const struct smb_session *session = share == 0 ? smb_session_of_channel(ctx, session_id) : NULL;

	for (uint32_t i = 0; session != NULL && i < session->channels; i++) {
		struct smb_connection *other = smb_channel_get(session, i);

		if (other == NULL || other == connection)
			continue;
		share = smb_share_find(&other->tables, session_id, tree_id, opened);
		if (share != 0)
			return smb_share_copy(&connection->tables, &other->tables.share[share - 1], dropped);
	}
	return share;
}

uint8_t
smb_session_find_file(const struct app_context *ctx, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES],
		      uint64_t opened, bool *dropped)
{
	struct smb_connection *connection = ctx->state;
	uint8_t file = smb_file_find(&connection->tables, session_id, id, opened);
	const struct smb_session *session = file == 0 ? smb_session_of_channel(ctx, session_id) : NULL;

	for (uint32_t i = 0; session != NULL && i < session->channels; i++) {
		struct smb_connection *other = smb_channel_get(session, i);

		if (other == NULL || other == connection)
			continue;
		file = smb_file_find(&other->tables, session_id, id, opened);
		if (file != 0)
			return smb_file_copy(&connection->tables, &other->tables.file[file - 1], dropped);
	}
	return file;
}

void
smb_session_end_share(const struct app_context *ctx, uint64_t session_id, uint32_t tree_id, uint64_t opened)
{
	const struct smb_session *session = smb_session_of_channel(ctx, session_id);
	struct smb_connection *connection = ctx->state;

	smb_share_end(&connection->tables, session_id, tree_id, opened);
	for (uint32_t i = 0; session != NULL && i < session->channels; i++) {
		struct smb_connection *other = smb_channel_get(session, i);

		if (other != NULL)
			smb_share_end(&other->tables, session_id, tree_id, opened);
	}
}

void
smb_session_end_file(const struct app_context *ctx, uint64_t session_id, const uint8_t id[SMB_FILE_ID_BYTES],
		     uint64_t opened)
{
	const struct smb_session *session = smb_session_of_channel(ctx, session_id);
	struct smb_connection *connection = ctx->state;

	smb_file_end(&connection->tables, session_id, id, opened);
	for (uint32_t i = 0; session != NULL && i < session->channels; i++) {
		struct smb_connection *other = smb_channel_get(session, i);

		if (other != NULL)
			smb_file_end(&other->tables, session_id, id, opened);
	}
}

void
smb_session_connect(const struct app_context *ctx, struct smb_share *share, uint64_t session_id, uint32_t tree_id)
{
	struct smb_sessions *sessions = ctx->shared;

	smb_session_end_share(ctx, session_id, tree_id, UINT64_MAX);
	if (share != NULL)
		smb_share_connect(share, session_id, tree_id, ++sessions->opened);
}

void
smb_session_open_file(const struct app_context *ctx, struct smb_file *file, uint64_t session_id,
		      const uint8_t id[SMB_FILE_ID_BYTES])
{
	struct smb_sessions *sessions = ctx->shared;

	smb_session_end_file(ctx, session_id, id, UINT64_MAX);
	if (file != NULL)
		smb_file_open(file, session_id, id, ++sessions->opened);
}

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
