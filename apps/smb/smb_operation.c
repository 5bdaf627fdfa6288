/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs requests with responses, and follows the shares and files that they name. */
#include <string.h>

#include "apps/smb/smb.h"

struct smb_op_ctx {
	struct app_context *app;
	struct smb_connection *connection;
	struct smb_stream *stream;
	unsigned sender;
	struct smb_body body;
	enum smb_body_result result;
};

static void
smb_op_anomaly(const struct smb_op_ctx *ctx, enum anomaly anomaly)
{
	ctx->app->on_anomaly(ctx->app->context, anomaly);
}

/* Reports an operation; `request` has its share and file. */
static void
smb_op_report(struct smb_op_ctx *ctx, struct smb_operation *operation, const struct smb_request *request)
{
	const struct smb_share *share = smb_share_at(&ctx->connection->tables, request->share, request->share_use);
	const struct smb_file *file = smb_file_at(&ctx->connection->tables, request->file, request->file_use);

	operation->share = share != NULL ? share->path : "";
	operation->path = file != NULL ? file->path : "";
	operation->dialect = ctx->connection->dialect;
	app_flow_report(ctx->app, ctx->sender, operation);
}

static void
smb_op_dropped(const struct smb_op_ctx *ctx, bool dropped)
{
	if (dropped)
		smb_op_anomaly(ctx, ANOMALY_SMB_FILES_LIMIT);
}

static void
smb_op_set_share(struct smb_op_ctx *ctx, struct smb_request *request, uint8_t share)
{
	request->share = share;
	request->share_use = share != 0 ? ctx->connection->tables.share[share - 1].use : 0;
}

static void
smb_op_set_file(struct smb_op_ctx *ctx, struct smb_request *request, uint8_t file)
{
	request->file = file;
	request->file_use = file != 0 ? ctx->connection->tables.file[file - 1].use : 0;
}

/* The share of the request, of those that were accepted before it. */
static void
smb_op_find_share(struct smb_op_ctx *ctx, struct smb_request *request)
{
	bool dropped = false;

	smb_op_set_share(ctx, request,
			 smb_session_find_share(ctx->app, request->session_id, request->tree_id, request->opened,
						&dropped));
	smb_op_dropped(ctx, dropped);
}

/* Its file likewise, by the id in the request. */
static void
smb_op_find_file(struct smb_op_ctx *ctx, struct smb_request *request)
{
	bool dropped = false;

	smb_op_set_file(ctx, request,
			smb_session_find_file(ctx->app, request->session_id, request->file_id, request->opened,
					      &dropped));
	smb_op_dropped(ctx, dropped);
}

/* ------------------------------------------------------------------------------------------------------- requests */

/* In a chain of related requests a file id of all ones is that of the request before (section 3.3.5.2.7.2). */
static void
smb_op_resolve_file(struct smb_op_ctx *ctx, struct smb_request *request)
{
	static const uint8_t related[SMB_FILE_ID_BYTES] = {255, 255, 255, 255, 255, 255, 255, 255,
							   255, 255, 255, 255, 255, 255, 255, 255};

	if (!ctx->body.has_file)
		return;
	if (memcmp(ctx->body.file_id, related, sizeof related) != 0) {
		request->has_file = true;
		memcpy(request->file_id, ctx->body.file_id, sizeof request->file_id);
		smb_op_find_file(ctx, request);
	} else if (ctx->stream->message.flags & SMB_FLAG_RELATED) {
		request->file = ctx->stream->file;
		request->file_use = ctx->stream->file_use;
	}
}

static void
smb_op_resolve(struct smb_op_ctx *ctx, struct smb_request *request)
{
	struct smb_tables *tables = &ctx->connection->tables;
	bool dropped = false;

	if (request->command == SMB_TREE_CONNECT) {
		smb_op_set_share(ctx, request,
				 smb_share_new(tables, request->session_id, ctx->body.name, &dropped));
	} else {
		smb_op_find_share(ctx, request);
		if (request->command == SMB_CREATE)
			smb_op_set_file(ctx, request,
					smb_file_new(tables, request->session_id, ctx->body.name, &dropped));
		else
			smb_op_resolve_file(ctx, request);
	}
	smb_op_dropped(ctx, dropped);
}

/* The ids of the request; related ones have those of the request before. */
static void
smb_op_follow_chain(struct smb_stream *stream, struct smb_request *request)
{
	if ((stream->message.flags & SMB_FLAG_RELATED) != 0 && stream->chained > 0) {
		request->session_id = stream->session_id;
		request->tree_id = stream->tree_id;
	}
	stream->session_id = request->session_id;
	stream->tree_id = request->tree_id;
}

static void
smb_op_request(struct smb_op_ctx *ctx)
{
	const struct smb_message *message = &ctx->stream->message;
	struct smb_request request = {.message_id = message->message_id,
				      .session_id = message->session_id,
				      .tree_id = message->tree_id,
				      .command = message->command,
				      .begun = app_bytes_time(ctx->app),
				      .offset = ctx->body.offset,
				      .count = ctx->body.count,
				      .opened = smb_sessions_opened(ctx->app),
				      .whole = ctx->result == SMB_BODY_COMPLETE,
				      .binding = ctx->body.binding};
	struct smb_operation operation;

	smb_op_follow_chain(ctx->stream, &request);
	smb_op_resolve(ctx, &request);
	if (request.file != 0) {
		ctx->stream->file = request.file;
		ctx->stream->file_use = request.file_use;
	}
	operation = (struct smb_operation){.session_id = request.session_id,
					   .message_id = request.message_id,
					   .tree_id = request.tree_id,
					   .offset = request.offset,
					   .count = request.count,
					   .flags = message->flags,
					   .command = message->command,
					   .latency_us = -1};
	smb_op_report(ctx, &operation, &request);
	/* CANCEL has no response. */
	if (message->command != SMB_CANCEL && smb_request_add(&ctx->connection->tables, &request))
		smb_op_anomaly(ctx, ANOMALY_SMB_REQUESTS_LIMIT);
}

/* ------------------------------------------------------------------------------------------------------ responses */

/* Whether the server sets up a session, and the connection is not a channel of one that exists: the id may have been
 * that of another session. */
static bool
smb_op_begins_session(const struct smb_op_ctx *ctx, const struct smb_request *request)
{
	const struct smb_message *message = &ctx->stream->message;

	if (message->command != SMB_SESSION_SETUP)
		return false;
	if (request->session_id == 0)
		return message->status == 0 || message->status == SMB_STATUS_MORE_PROCESSING;
	return message->status == 0 && request->session_id == message->session_id && request->whole &&
	       !request->binding && !smb_session_has_channel(ctx->app, message->session_id);
}

/* Whether a response proves that the server knows the session on the connection: it answers with an error otherwise
 * (section 3.3.5.2.9), except to requests that need no session. */
static bool
smb_op_proves_session(const struct smb_message *message, const struct smb_request *request)
{
	bool set_up = message->command == SMB_SESSION_SETUP && request->session_id == 0;

	return message->status == 0 && message->session_id != 0 && message->session_id != UINT64_MAX &&
	       (request->session_id == message->session_id || set_up) && message->command != SMB_NEGOTIATE &&
	       message->command != SMB_ECHO;
}

/* Follows the session of a response.  If that makes the connection a channel of it, the request may be about a share or
 * file that another channel has opened. */
static void
smb_op_follow_session(struct smb_op_ctx *ctx, struct smb_request *request)
{
	const struct smb_message *message = &ctx->stream->message;
	bool set_up = message->command == SMB_SESSION_SETUP && (request->whole || request->session_id == 0);

	if (smb_op_begins_session(ctx, request))
		smb_session_end(ctx->app, message->session_id);
	if (!smb_op_proves_session(message, request))
		return;
	smb_op_dropped(ctx, smb_session_join(ctx->app, message->session_id, set_up));
	if (request->share == 0 && message->command != SMB_TREE_CONNECT)
		smb_op_find_share(ctx, request);
	if (request->file == 0 && request->has_file)
		smb_op_find_file(ctx, request);
}

/* Stores what the server has accepted; called before the operation is reported, so that it is complete. */
static void
smb_op_accept(struct smb_op_ctx *ctx, const struct smb_request *request)
{
	const struct smb_message *message = &ctx->stream->message;
	struct smb_tables *tables = &ctx->connection->tables;
	struct smb_share *share = smb_share_at(tables, request->share, request->share_use);
	struct smb_file *file = smb_file_at(tables, request->file, request->file_use);

	if (message->command == SMB_NEGOTIATE && ctx->result == SMB_BODY_COMPLETE)
		ctx->connection->dialect = ctx->body.dialect;
	if (message->command == SMB_TREE_CONNECT && message->status == 0)
		smb_session_connect(ctx->app, share, message->session_id, message->tree_id);
	if (message->command == SMB_CREATE && ctx->body.has_file)
		smb_session_open_file(ctx->app, file, request->session_id, ctx->body.file_id);
}

/* The server has closed a file: on all channels, by the id in the request, or that of the related request before. */
static void
smb_op_close_file(struct smb_op_ctx *ctx, const struct smb_request *request, struct smb_file *file)
{
	bool open = file != NULL && file->state == SMB_OPEN;

	if (open || request->has_file)
		smb_session_end_file(ctx->app, request->session_id, open ? file->id : request->file_id,
				     open ? file->opened : request->opened);
	if (file != NULL)
		file->state = SMB_ENDED;
}

/* Ends what is closed, or was refused. */
static void
smb_op_close(struct smb_op_ctx *ctx, const struct smb_request *request)
{
	const struct smb_message *message = &ctx->stream->message;
	struct smb_tables *tables = &ctx->connection->tables;
	struct smb_share *share = smb_share_at(tables, request->share, request->share_use);
	struct smb_file *file = smb_file_at(tables, request->file, request->file_use);

	switch (message->command) {
	case SMB_TREE_CONNECT:
		if (share != NULL && share->state == SMB_ASKED)
			share->state = SMB_ENDED;
		break;
	case SMB_TREE_DISCONNECT:
		if (message->status == 0)
			smb_session_end_share(ctx->app, request->session_id, request->tree_id, request->opened);
		break;
	case SMB_CREATE:
		if (file != NULL && file->state == SMB_ASKED)
			file->state = SMB_ENDED;
		break;
	case SMB_CLOSE:
		if (message->status == 0)
			smb_op_close_file(ctx, request, file);
		break;
	case SMB_LOGOFF:
		if (message->status == 0)
			smb_session_end(ctx->app, message->session_id);
		break;
	default: break;
	}
}

static void
smb_op_response(struct smb_op_ctx *ctx)
{
	const struct smb_message *message = &ctx->stream->message;
	struct smb_operation operation = {.session_id = message->session_id,
					  .message_id = message->message_id,
					  .tree_id = message->tree_id,
					  .offset = ctx->body.offset,
					  .count = ctx->body.count,
					  .status = message->status,
					  .flags = message->flags,
					  .command = message->command,
					  .latency_us = -1,
					  .from_server = true};
	struct smb_request request = {0};

	if (smb_request_take(&ctx->connection->tables, message->message_id, &request) &&
	    request.command == message->command) {
		operation.offset = request.offset;
		operation.latency_us = app_elapsed_us(request.begun, app_bytes_time(ctx->app));
		/* An asynchronous response has no tree id. */
		if ((message->flags & SMB_FLAG_ASYNC) != 0)
			operation.tree_id = request.tree_id;
	} else {
		request = (struct smb_request){.session_id = message->session_id,
					       .opened = smb_sessions_opened(ctx->app),
					       .tree_id = message->tree_id,
					       .command = message->command};
		/* The tree id of TREE_CONNECT is a new one. */
		if (message->command != SMB_TREE_CONNECT)
			smb_op_find_share(ctx, &request);
	}
	smb_op_follow_session(ctx, &request);
	smb_op_accept(ctx, &request);
	smb_op_report(ctx, &operation, &request);
	smb_op_close(ctx, &request);
}

/* Whether a response ends its request: an interim response does not, a notification of the server has no request. */
static bool
smb_op_is_final(const struct smb_message *message)
{
	return message->status != SMB_STATUS_PENDING && message->message_id != UINT64_MAX;
}

static void
smb_op_encrypted(struct smb_op_ctx *ctx, bool from_server)
{
	struct smb_operation operation = {.session_id = ctx->stream->message.session_id,
					  .command = SMB_ENCRYPTED,
					  .latency_us = -1,
					  .from_server = from_server,
					  .encrypted = true};

	smb_op_report(ctx, &operation, &(struct smb_request){0});
}

void
smb_operation_read(struct app_context *app, unsigned sender)
{
	struct smb_connection *connection = app->state;
	struct smb_op_ctx ctx = {.app = app,
				 .connection = connection,
				 .stream = &connection->stream[sender],
				 .sender = sender};
	const struct smb_stream *stream = ctx.stream;
	bool from_server = sender == app->server_endpoint;

	if (stream->kind == SMB_KIND_ENCRYPTED) {
		smb_op_encrypted(&ctx, from_server);
		return;
	}
	if (((stream->message.flags & SMB_FLAG_RESPONSE) != 0) != from_server) {
		smb_op_anomaly(&ctx, ANOMALY_SMB_DIRECTION);
		return;
	}
	if (from_server && !smb_op_is_final(&stream->message))
		return;
	ctx.result = smb_body_parse(&ctx.body, &stream->message, (struct slice){stream->bytes, stream->kept},
				    stream->length);
	if (ctx.result == SMB_BODY_BAD) {
		smb_op_anomaly(&ctx, ANOMALY_SMB_BODY);
		ctx.stream->file = 0; /* a related request after this one has a file that is not known */
	} else if (from_server) {
		smb_op_response(&ctx);
	} else {
		smb_op_request(&ctx);
	}
}
