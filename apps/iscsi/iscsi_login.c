/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of an iSCSI login (RFC 7143 sections 6 and 13): names, digests, lengths. */
#include <string.h>

#include "apps/iscsi/iscsi_reader.h"

/* Records a digest key: the first value of an offer, or the value chosen in the answer.  The answer comes last and
 * overwrites the offer (section 6.2.1). */
static void
iscsi_login_set_digest(struct iscsi_connection *connection, enum iscsi_digest_kind kind, const char *value)
{
	if (strncmp(value, "CRC32C", 6) == 0)
		connection->digest_offer[kind] = ISCSI_DIGEST_ON;
	else if (strncmp(value, "None", 4) == 0)
		connection->digest_offer[kind] = ISCSI_DIGEST_OFF;
}

/* A number in decimal or hexadecimal (section 6.1); 0 if it is malformed or too large. */
static uint32_t
iscsi_parse_number(const char *value)
{
	unsigned base = value[0] == '0' && (value[1] | 0x20) == 'x' ? 16 : 10;
	uint32_t number = 0;

	for (const char *at = base == 16 ? value + 2 : value; *at != '\0'; at++) {
		unsigned digit = *at >= '0' && *at <= '9' ? (unsigned)(*at - '0') : (unsigned)((*at | 0x20) - 'a') + 10;

		if (digit >= base || number > ISCSI_DATA_MAX)
			return 0;
		number = number * base + digit;
	}
	return number <= ISCSI_DATA_MAX ? number : 0;
}

static void
iscsi_login_set_name(struct iscsi_reader_ctx *ctx, char name[ISCSI_NAME_MAX + 1], const char *value)
{
	size_t length = strlen(value);

	if (length == 0 || length > ISCSI_NAME_MAX) {
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
		return;
	}
	memcpy(name, value, length);
	memset(name + length, 0, ISCSI_NAME_MAX + 1 - length);
}

/* The default limit is 8192 bytes (section 13.12). */
uint32_t
iscsi_max_data_len(const struct iscsi_connection *connection, unsigned receiver)
{
	uint32_t declared = connection->max_recv_data[receiver];

	if (!iscsi_login_is_known(connection))
		return ISCSI_DATA_MAX;
	return declared > 8192 ? declared : 8192;
}

static void
iscsi_handle_text_pair(void *context, const char *key, const char *value)
{
	struct iscsi_reader_ctx *ctx = context;
	struct iscsi_connection *connection = ctx->connection;

	/* The only relevant key that a text PDU may change too. */
	if (strcmp(key, "MaxRecvDataSegmentLength") == 0) {
		connection->max_recv_data[ctx->sender] = iscsi_parse_number(value);
		if (connection->full_feature)
			connection->stream[1 - ctx->sender].data_max = iscsi_max_data_len(connection, ctx->sender);
	}
	if (!iscsi_opcode_is_login(ctx->stream->pdu.opcode))
		return;
	if (strcmp(key, "InitiatorName") == 0 && !ctx->from_target)
		iscsi_login_set_name(ctx, connection->initiator, value);
	else if (strcmp(key, "TargetName") == 0 && !ctx->from_target)
		iscsi_login_set_name(ctx, connection->target, value);
	else if (strcmp(key, "HeaderDigest") == 0)
		iscsi_login_set_digest(connection, ISCSI_HEADER_DIGEST, value);
	else if (strcmp(key, "DataDigest") == 0)
		iscsi_login_set_digest(connection, ISCSI_DATA_DIGEST, value);
}

void
iscsi_feed_text(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	if (!iscsi_text_feed(&ctx->stream->text, bytes, iscsi_handle_text_pair, ctx))
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
}

/* --- additional connections of a session --- */

static bool
iscsi_copy_session_names(void *context, const void *state)
{
	struct iscsi_connection *connection = context;
	const struct iscsi_connection *other = state;

	if (!other->full_feature || other->tsih != connection->tsih || other->initiator[0] == '\0' ||
	    memcmp(other->isid, connection->isid, sizeof other->isid) != 0)
		return false;
	memcpy(connection->target, other->target, sizeof connection->target);
	memcpy(connection->initiator, other->initiator, sizeof connection->initiator);
	return true;
}

/* --- the end of the login --- */

static void
iscsi_enter_full_feature(struct iscsi_connection *connection)
{
	connection->full_feature = true;
	for (unsigned kind = 0; kind < 2; kind++) {
		if (connection->digest_use[kind] != ISCSI_DIGEST_UNKNOWN)
			continue;
		if (iscsi_login_is_known(connection))
			connection->digest_use[kind] =
			    connection->digest_offer[kind] == ISCSI_DIGEST_ON ? ISCSI_DIGEST_ON : ISCSI_DIGEST_OFF;
	}
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		connection->stream[endpoint].data_max = iscsi_max_data_len(connection, 1 - endpoint);
}

void
iscsi_assume_full_feature(struct iscsi_connection *connection)
{
	if (connection->full_feature)
		return;
	/* The answer was not captured, so it is unknown whether the offer was accepted. */
	connection->login_unseen |=
	    connection->digest_offer[0] == ISCSI_DIGEST_ON || connection->digest_offer[1] == ISCSI_DIGEST_ON;
	iscsi_enter_full_feature(connection);
}

void
iscsi_finish_text(struct iscsi_reader_ctx *ctx)
{
	if ((ctx->stream->pdu.flags & ISCSI_CONTINUE) != 0)
		return;
	if (!iscsi_text_end(&ctx->stream->text) && !ctx->stream->data_missing)
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
}

void
iscsi_process_login_pdu(struct iscsi_reader_ctx *ctx)
{
	struct iscsi_connection *connection = ctx->connection;
	const struct iscsi_pdu *pdu = &ctx->stream->pdu;
	bool continues = (pdu->flags & ISCSI_CONTINUE) != 0;

	if (ctx->stream->data_missing)
		connection->login_unseen = true;
	memcpy(connection->isid, pdu->isid, sizeof connection->isid);
	if (pdu->tsih != 0)
		connection->tsih = pdu->tsih;
	if (connection->initiator[0] == '\0' && connection->tsih != 0 && !continues)
		app_flow_visit_others(ctx->app_ctx, iscsi_copy_session_names, connection);
	if (ctx->from_target && pdu->status < 0x100 && (pdu->flags & ISCSI_LOGIN_TRANSIT) != 0 &&
	    (pdu->flags & 3) == ISCSI_FULL_FEATURE)
		iscsi_enter_full_feature(connection);
}
