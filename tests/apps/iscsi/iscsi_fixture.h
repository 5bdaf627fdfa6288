/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of iSCSI: a connection of an initiator (the client) to a target at port 3260, hand-made PDUs, and the
 * reader's reports as one line of text.
 */
#ifndef NETOBS_TESTS_APPS_ISCSI_ISCSI_FIXTURE_H
#define NETOBS_TESTS_APPS_ISCSI_ISCSI_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/iscsi/iscsi.h"
#include "tests/lib/tcp_fixture.h"

enum { INITIATOR = CLIENT, TARGET = SERVER };

/* Bytes on their way into a stream. */
struct iscsi_buffer {
	uint8_t at[1 << 17];
	uint32_t length;
};

struct iscsi_fixture {
	struct tcp_fixture tcp;
	unsigned anomalies[ANOMALY_COUNT];
	unsigned messages;
	struct iscsi_pdu pdu;		 /* the last PDU reported; its slices must not be used */
	struct iscsi_connection session; /* as it was then */
	uint8_t cdb[ISCSI_CDB_MAX];	 /* of the last command */
	uint32_t cdb_length;
	char trace[8192]; /* "login-command:00000001 ..." opcode in hex and task tag */
	size_t length;
};

static inline void
iscsi_fixture_on_message(void *context, unsigned sender, const void *reported)
{
	struct iscsi_fixture *s = context;
	const struct iscsi_message *message = reported;

	(void)sender;
	s->messages++;
	s->pdu = *message->pdu;
	s->session = *message->connection;
	slice_copy(s->pdu.cdb, 0, s->cdb, s->pdu.cdb.len);
	slice_copy(s->pdu.cdb_extension, 0, s->cdb + s->pdu.cdb.len, s->pdu.cdb_extension.len);
	s->cdb_length = s->pdu.cdb.len + s->pdu.cdb_extension.len;
	if (s->length < sizeof s->trace - 32)
		s->length += (size_t)snprintf(s->trace + s->length, 32, "%s%02x:%x", s->length > 0 ? " " : "",
					      s->pdu.opcode, (unsigned)s->pdu.itt);
}

static inline void
iscsi_fixture_on_anomaly(void *context, enum anomaly a)
{
	((struct iscsi_fixture *)context)->anomalies[a]++;
}

static inline void
iscsi_fixture_setup_flows(struct iscsi_fixture *s, uint32_t flows)
{
	const struct app_context ctx = {
	    .on_message = iscsi_fixture_on_message, .on_anomaly = iscsi_fixture_on_anomaly, .context = s};

	memset(s, 0, sizeof *s);
	tcp_fixture_setup(&s->tcp, &iscsi_reader, &ctx, 3260, flows);
}

static inline void
iscsi_fixture_setup(struct iscsi_fixture *s)
{
	iscsi_fixture_setup_flows(s, 100);
}

/* --- PDUs --- */

static inline void
iscsi_put_u32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 24);
	at[1] = (uint8_t)(value >> 16);
	at[2] = (uint8_t)(value >> 8);
	at[3] = (uint8_t)value;
}

static inline void
iscsi_put_digest(struct iscsi_buffer *to, uint32_t from)
{
	uint32_t crc = ~iscsi_digest_update(ISCSI_DIGEST_BEGIN, (struct slice){to->at + from, to->length - from});

	iscsi_put_u32(to->at + to->length, __builtin_bswap32(crc));
	to->length += 4;
}

enum { WITH_HEADER_DIGEST = 1, WITH_DATA_DIGEST = 2 };

/* Appends a PDU with a task tag, opcode and flags, and `data`; returns its offset. */
static inline uint32_t
iscsi_put_pdu_digests(struct iscsi_buffer *to, uint8_t opcode, uint8_t flags, uint32_t itt, const void *data,
		      uint32_t length, unsigned digests)
{
	uint32_t begin = to->length, data_at;
	uint8_t *bhs = to->at + begin;

	memset(bhs, 0, ISCSI_BHS_LEN);
	iscsi_put_u32(bhs + 4, length);
	bhs[0] = opcode;
	bhs[1] = flags;
	iscsi_put_u32(bhs + 16, itt);
	if ((opcode & 0x3f) == ISCSI_NOP_OUT || (opcode & 0x3f) == ISCSI_NOP_IN)
		iscsi_put_u32(bhs + 20, ISCSI_RESERVED_TAG);
	to->length += ISCSI_BHS_LEN;
	if ((digests & WITH_HEADER_DIGEST) != 0)
		iscsi_put_digest(to, begin);
	data_at = to->length;
	if (length == 0)
		return begin;
	memcpy(to->at + to->length, data, length);
	memset(to->at + to->length + length, 0, 4);
	to->length += iscsi_pad_length(length);
	if ((digests & WITH_DATA_DIGEST) != 0)
		iscsi_put_digest(to, data_at);
	return begin;
}

static inline uint32_t
iscsi_put_pdu(struct iscsi_buffer *to, uint8_t opcode, uint8_t flags, uint32_t itt, const void *data, uint32_t length)
{
	return iscsi_put_pdu_digests(to, opcode, flags, itt, data, length, 0);
}

static struct iscsi_buffer script_scratch;

/* Sends one PDU in one segment. */
static inline void
iscsi_fixture_feed_pdu(struct iscsi_fixture *s, unsigned from, uint8_t opcode, uint8_t flags, uint32_t itt,
		       const void *data, uint32_t length)
{
	script_scratch.length = 0;
	iscsi_put_pdu(&script_scratch, opcode, flags, itt, data, length);
	tcp_fixture_feed(&s->tcp, from, script_scratch.at, script_scratch.length);
}

#define SCRIPT_NAMES "InitiatorName=iqn.a\0TargetName=iqn.b\0"

/* A login in one PDU each way, with `keys` and `answer` beside the names: texts with NULs inside. */
static inline void
iscsi_fixture_login(struct iscsi_fixture *s, const char *keys, uint32_t keys_length, const char *answer,
		    uint32_t answer_length)
{
	char text[1024];

	memcpy(text, SCRIPT_NAMES, sizeof SCRIPT_NAMES - 1);
	memcpy(text + sizeof SCRIPT_NAMES - 1, keys, keys_length);
	iscsi_fixture_feed_pdu(s, INITIATOR, 0x43, 0x87, 1, text, (uint32_t)sizeof SCRIPT_NAMES - 1 + keys_length);
	iscsi_fixture_feed_pdu(s, TARGET, 0x23, 0x87, 1, answer, answer_length);
}

#endif
