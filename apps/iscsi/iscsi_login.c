/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of an iSCSI login (RFC 7143 sections 6 and 13): names, digests, lengths. */
#include <string.h>

#include "apps/iscsi/iscsi_reader.h"

/* Records a digest key: the first value of an offer, or the value chosen in the answer.  The answer comes last and
 * overwrites the offer (section 6.2.1). */
static void
take_digest(struct iscsi_session *session, enum iscsi_digest_kind kind, const char *value)
{
	if (strncmp(value, "CRC32C", 6) == 0)
		session->offer[kind] = ISCSI_USE_YES;
	else if (strncmp(value, "None", 4) == 0)
		session->offer[kind] = ISCSI_USE_NO;
}

/* A number in decimal or hexadecimal (section 6.1); 0 if it is malformed or too large. */
static uint32_t
number_of(const char *value)
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
take_name(struct iscsi_work *w, char name[ISCSI_NAME_MAX + 1], const char *value)
{
	size_t length = strlen(value);

	if (length == 0 || length > ISCSI_NAME_MAX) {
		iscsi_odd(w, ANOMALY_ISCSI_TEXT);
		return;
	}
	memcpy(name, value, length);
	memset(name + length, 0, ISCSI_NAME_MAX + 1 - length);
}

/* The default limit is 8192 bytes (section 13.12). */
uint32_t
iscsi_limit_of(const struct iscsi_session *session, unsigned receiver)
{
	uint32_t takes = session->takes[receiver];

	if (!iscsi_is_settled(session))
		return ISCSI_DATA_MAX;
	return takes > 8192 ? takes : 8192;
}

static void
take_pair(void *context, const char *key, const char *value)
{
	struct iscsi_work *w = context;
	struct iscsi_session *session = w->session;

	/* The only relevant key that a text PDU may change too. */
	if (strcmp(key, "MaxRecvDataSegmentLength") == 0) {
		session->takes[w->sender] = number_of(value);
		if (session->full)
			session->side[1 - w->sender].limit = iscsi_limit_of(session, w->sender);
	}
	if (!iscsi_is_login(w->side->pdu.opcode))
		return;
	if (strcmp(key, "InitiatorName") == 0 && !w->from_target)
		take_name(w, session->initiator, value);
	else if (strcmp(key, "TargetName") == 0 && !w->from_target)
		take_name(w, session->target, value);
	else if (strcmp(key, "HeaderDigest") == 0)
		take_digest(session, ISCSI_HEADER_DIGEST, value);
	else if (strcmp(key, "DataDigest") == 0)
		take_digest(session, ISCSI_DATA_DIGEST, value);
}

void
iscsi_take_text(struct iscsi_work *w, struct view bytes)
{
	if (!iscsi_text_take(&w->side->text, bytes, take_pair, w))
		iscsi_odd(w, ANOMALY_ISCSI_TEXT);
}

/* --- additional connections of a session --- */

static bool
lends_names(void *context, const void *state)
{
	struct iscsi_session *session = context;
	const struct iscsi_session *other = state;

	if (!other->full || other->tsih != session->tsih || other->initiator[0] == '\0' ||
	    memcmp(other->isid, session->isid, sizeof other->isid) != 0)
		return false;
	memcpy(session->target, other->target, sizeof session->target);
	memcpy(session->initiator, other->initiator, sizeof session->initiator);
	return true;
}

/* --- the end of the login --- */

static void
enter_full_feature(struct iscsi_session *session)
{
	session->full = true;
	for (unsigned kind = 0; kind < 2; kind++) {
		if (session->use[kind] != ISCSI_USE_UNKNOWN)
			continue;
		if (iscsi_is_settled(session))
			session->use[kind] = session->offer[kind] == ISCSI_USE_YES ? ISCSI_USE_YES : ISCSI_USE_NO;
	}
	for (unsigned end = 0; end < 2; end++)
		session->side[end].limit = iscsi_limit_of(session, 1 - end);
}

void
iscsi_login_over(struct iscsi_session *session)
{
	if (session->full)
		return;
	/* The answer was not captured, so it is unknown whether the offer was accepted. */
	session->blind |= session->offer[0] == ISCSI_USE_YES || session->offer[1] == ISCSI_USE_YES;
	enter_full_feature(session);
}

void
iscsi_end_text(struct iscsi_work *w)
{
	if ((w->side->pdu.flags & ISCSI_CONTINUE) != 0)
		return;
	if (!iscsi_text_end(&w->side->text) && !w->side->missing)
		iscsi_odd(w, ANOMALY_ISCSI_TEXT);
}

void
iscsi_login_pdu(struct iscsi_work *w)
{
	struct iscsi_session *session = w->session;
	const struct iscsi_pdu *pdu = &w->side->pdu;
	bool goes_on = (pdu->flags & ISCSI_CONTINUE) != 0;

	if (w->side->missing)
		session->blind = true;
	memcpy(session->isid, pdu->isid, sizeof session->isid);
	if (pdu->tsih != 0)
		session->tsih = pdu->tsih;
	if (session->initiator[0] == '\0' && session->tsih != 0 && !goes_on)
		conversation_others(w->reading, lends_names, session);
	if (w->from_target && pdu->status < 0x100 && (pdu->flags & ISCSI_LOGIN_TRANSIT) != 0 &&
	    (pdu->flags & 3) == ISCSI_FULL_FEATURE)
		enter_full_feature(session);
}
