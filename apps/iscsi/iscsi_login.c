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

/* An attacker can send a pair in every 4 bytes: most keys are told apart by their first letter. */
static void
iscsi_handle_text_pair(void *context, const char *key, const char *value)
{
	struct iscsi_reader_ctx *ctx = context;
	struct iscsi_connection *connection = ctx->connection;
	bool login = iscsi_opcode_is_login(ctx->stream->pdu.opcode);

	switch (key[0]) {
	case 'M': /* the only relevant key that a text PDU may change too */
		if (strcmp(key, "MaxRecvDataSegmentLength") != 0)
			return;
		connection->max_recv_data[ctx->sender] = iscsi_parse_number(value);
		if (connection->full_feature)
			connection->stream[1 - ctx->sender].data_max = iscsi_max_data_len(connection, ctx->sender);
		return;
	case 'I':
		if (login && !ctx->from_target && strcmp(key, "InitiatorName") == 0)
			iscsi_login_set_name(ctx, connection->initiator, value);
		return;
	case 'T':
		if (login && !ctx->from_target && strcmp(key, "TargetName") == 0)
			iscsi_login_set_name(ctx, connection->target, value);
		return;
	case 'H':
		if (login && strcmp(key, "HeaderDigest") == 0)
			iscsi_login_set_digest(connection, ISCSI_HEADER_DIGEST, value);
		return;
	case 'D':
		if (login && strcmp(key, "DataDigest") == 0)
			iscsi_login_set_digest(connection, ISCSI_DATA_DIGEST, value);
		return;
	default:
		return;
	}
}

void
iscsi_feed_text(struct iscsi_reader_ctx *ctx, struct slice bytes)
{
	if (!iscsi_text_feed(&ctx->stream->text, bytes, iscsi_handle_text_pair, ctx))
		iscsi_report_anomaly(ctx, ANOMALY_ISCSI_TEXT);
}

/* --- additional connections of a session --- */

/* Key of a session in the index: ISID and TSIH, which is not 0. */
static uint64_t
iscsi_session_key(const struct iscsi_connection *connection)
{
	uint64_t key = connection->tsih;

	for (unsigned i = 0; i < sizeof connection->isid; i++)
		key |= (uint64_t)connection->isid[i] << (16 + 8 * i);
	return key;
}

/* A login PDU of an additional connection does not repeat the names. */
static void
iscsi_copy_session_names(const struct app_context *ctx, struct iscsi_connection *connection)
{
	const struct iscsi_connection *other = app_flow_index_find(ctx, iscsi_session_key(connection));

	if (other == NULL)
		return;
	memcpy(connection->target, other->target, sizeof connection->target);
	memcpy(connection->initiator, other->initiator, sizeof connection->initiator);
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
		iscsi_copy_session_names(ctx->app_ctx, connection);
	if (ctx->from_target && pdu->status < 0x100 && (pdu->flags & ISCSI_LOGIN_TRANSIT) != 0 &&
	    (pdu->flags & 3) == ISCSI_FULL_FEATURE)
		iscsi_enter_full_feature(connection);
	if (connection->full_feature && connection->tsih != 0 && connection->initiator[0] != '\0')
		app_flow_index_set(ctx->app_ctx, iscsi_session_key(connection));
}
