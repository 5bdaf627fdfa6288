/* SPDX-License-Identifier: BSD-2-Clause */
/* The iscsi probes: arguments, firing, printing. */
#include "apps/iscsi/iscsi.h"

#include <string.h>

#include "apps/app.h"
#include "probes/args/args.h"
#include "probes/fire.h"
#include "probes/names.h"
#include "probes/netobs.h"
#include "probes/print/text_line.h"
#include "probes/site/semaphores.h"

/* Names of initiator and target.  They are sent in the login, so they are unknown if the login was not captured. */
static void
args_copy_iscsi_name(char to[ISCSI_NAME_MAX + 1], const char *name, const struct iscsi_connection *connection)
{
	if (name[0] == '\0' && !connection->from_start)
		name = NAME_UNKNOWN;
	field_set_string(to, ISCSI_NAME_MAX + 1, name);
}

void
args_iscsiinfo(struct iscsiinfo *info, const struct iscsi_message *message)
{
	const struct iscsi_pdu *pdu = message->pdu;

	_Static_assert(sizeof info->ii_target == ISCSI_NAME_MAX + 1, "a name fits");
	*info = (struct iscsiinfo){
	    .ii_lun = pdu->lun,
	    .ii_itt = pdu->itt,
	    .ii_ttt = pdu->ttt,
	    .ii_cmdsn = pdu->cmdsn,
	    .ii_statsn = pdu->statsn,
	    .ii_datasn = pdu->datasn,
	    .ii_datalen = pdu->data_length,
	    .ii_flags = pdu->flags,
	    .ii_status = pdu->status,
	    .ii_response = pdu->response,
	    .ii_opcode = pdu->opcode,
	    .ii_offset = pdu->buffer_offset,
	    .ii_xferlen = pdu->transfer_length,
	};
	args_copy_iscsi_name(info->ii_target, message->connection->target, message->connection);
	args_copy_iscsi_name(info->ii_initiator, message->connection->initiator, message->connection);
}

/* SPC-4, SBC-3, MMC-6 and SSC-4: commands that initiators of disks and tapes send. */
static const struct scsi_operation {
	uint8_t code;
	const char *word;
} scsi_operations[] = {
    {0x00, "test-unit-ready"},
    {0x03, "request-sense"},
    {0x04, "format-unit"},
    {0x08, "read(6)"},
    {0x0a, "write(6)"},
    {0x12, "inquiry"},
    {0x15, "mode-select(6)"},
    {0x16, "reserve(6)"},
    {0x17, "release(6)"},
    {0x1a, "mode-sense(6)"},
    {0x1b, "start-stop-unit"},
    {0x1d, "send-diagnostic"},
    {0x1e, "prevent-allow-removal"},
    {0x25, "read-capacity(10)"},
    {0x28, "read(10)"},
    {0x2a, "write(10)"},
    {0x2e, "write-and-verify(10)"},
    {0x2f, "verify(10)"},
    {0x34, "pre-fetch(10)"},
    {0x35, "synchronize-cache(10)"},
    {0x37, "read-defect-data(10)"},
    {0x3b, "write-buffer"},
    {0x3c, "read-buffer"},
    {0x41, "write-same(10)"},
    {0x42, "unmap"},
    {0x4d, "log-sense"},
    {0x51, "xpwrite(10)"},
    {0x53, "xdwriteread(10)"},
    {0x55, "mode-select(10)"},
    {0x56, "reserve(10)"},
    {0x57, "release(10)"},
    {0x5a, "mode-sense(10)"},
    {0x5e, "persistent-reserve-in"},
    {0x5f, "persistent-reserve-out"},
    {0x7f, "variable-length"},
    {0x83, "third-party-copy-out"},
    {0x84, "third-party-copy-in"},
    {0x85, "ata-pass-through(16)"},
    {0x88, "read(16)"},
    {0x89, "compare-and-write"},
    {0x8a, "write(16)"},
    {0x8c, "read-attribute"},
    {0x8e, "write-and-verify(16)"},
    {0x8f, "verify(16)"},
    {0x90, "pre-fetch(16)"},
    {0x91, "synchronize-cache(16)"},
    {0x93, "write-same(16)"},
    {0x9c, "write-atomic(16)"},
    {0x9e, "service-action-in(16)"},
    {0xa0, "report-luns"},
    {0xa1, "ata-pass-through(12)"},
    {0xa2, "security-protocol-in"},
    {0xa3, "maintenance-in"},
    {0xa4, "maintenance-out"},
    {0xa8, "read(12)"},
    {0xaa, "write(12)"},
    {0xae, "write-and-verify(12)"},
    {0xaf, "verify(12)"},
    {0xb5, "security-protocol-out"},
    {0xb7, "read-defect-data(12)"},
};

static const char *
scsi_operation_name(uint8_t code)
{
	for (unsigned i = 0; i < sizeof scsi_operations / sizeof scsi_operations[0]; i++)
		if (scsi_operations[i].code == code)
			return scsi_operations[i].word;
	return NAME_UNKNOWN;
}

void
args_iscsicmd(struct iscsicmd *info, uint8_t cdb[ISCSI_CDB_MAX], const struct iscsi_pdu *pdu)
{
	uint8_t operation = slice_u8(pdu->cdb, 0);
	uint32_t length = pdu->cdb.len + pdu->cdb_extension.len;

	slice_copy(pdu->cdb, 0, cdb, pdu->cdb.len);
	slice_copy(pdu->cdb_extension, 0, cdb + pdu->cdb.len, pdu->cdb_extension.len);
	*info = (struct iscsicmd){.ic_len = length, .ic_cdb = args_pointer(cdb), .ic_opcode = operation};
	field_set_string(info->ic_opstr, sizeof info->ic_opstr, scsi_operation_name(operation));
	slice_copy(pdu->cdb, 0, info->ic_cdb16, pdu->cdb.len);
}

/* Probe of a PDU by its operation code; PROBE_COUNT if there is no such probe. */
static enum probe_id
iscsi_find_probe(uint8_t opcode)
{
	switch ((enum iscsi_opcode)opcode) {
	case ISCSI_NOP_OUT: return PROBE_ISCSI_NOP_RECEIVE;
	case ISCSI_SCSI_COMMAND: return PROBE_ISCSI_SCSI_COMMAND;
	case ISCSI_TASK_REQUEST: return PROBE_ISCSI_TASK_COMMAND;
	case ISCSI_LOGIN_REQUEST: return PROBE_ISCSI_LOGIN_COMMAND;
	case ISCSI_TEXT_REQUEST: return PROBE_ISCSI_TEXT_COMMAND;
	case ISCSI_DATA_OUT: return PROBE_ISCSI_DATA_RECEIVE;
	case ISCSI_LOGOUT_REQUEST: return PROBE_ISCSI_LOGOUT_COMMAND;
	case ISCSI_NOP_IN: return PROBE_ISCSI_NOP_SEND;
	case ISCSI_SCSI_RESPONSE: return PROBE_ISCSI_SCSI_RESPONSE;
	case ISCSI_TASK_RESPONSE: return PROBE_ISCSI_TASK_RESPONSE;
	case ISCSI_LOGIN_RESPONSE: return PROBE_ISCSI_LOGIN_RESPONSE;
	case ISCSI_TEXT_RESPONSE: return PROBE_ISCSI_TEXT_RESPONSE;
	case ISCSI_DATA_IN: return PROBE_ISCSI_DATA_SEND;
	case ISCSI_LOGOUT_RESPONSE: return PROBE_ISCSI_LOGOUT_RESPONSE;
	case ISCSI_R2T: return PROBE_ISCSI_DATA_REQUEST;
	case ISCSI_ASYNC: return PROBE_ISCSI_ASYNC_SEND;
	case ISCSI_SNACK:
	case ISCSI_REJECT:
		break;
	}
	return PROBE_COUNT;
}

static void
emit_iscsi(struct emitter *emitter, enum probe_id probe, const struct flow *flow, unsigned endpoint,
	   const struct iscsi_message *message)
{
	struct iscsiinfo info;
	struct iscsicmd command;
	uint8_t cdb[ISCSI_CDB_MAX];

	args_iscsiinfo(&info, message);
	if (probe == PROBE_ISCSI_SCSI_COMMAND)
		args_iscsicmd(&command, cdb, message->pdu);
	emit_app(emitter, probe, flow, endpoint, &info, probe == PROBE_ISCSI_SCSI_COMMAND ? &command : NULL);
}

void
iscsi_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	const struct iscsi_message *pdu_message = message;
	enum probe_id probe = iscsi_find_probe(pdu_message->pdu->opcode);

	if (probe != PROBE_COUNT && semaphores_enabled(probe))
		emit_iscsi(emitter, probe, flow, endpoint, pdu_message);
}

static char *
put_iscsi_number(char *at, const char *what, uint32_t value)
{
	return value == 0 ? at : app_put_number(at, what, value);
}

/* A text_formatter. */
static char *
iscsi_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct iscsiinfo *ii = firing->arg[STRUCT_ISCSIINFO];
	const struct iscsicmd *ic = firing->arg[STRUCT_ISCSICMD];

	if (ci == NULL || ii == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = APP_PUT_TEXT(at, ", target ", ii->ii_target);
	at = APP_PUT_TEXT(at, ", initiator ", ii->ii_initiator);
	if (ic != NULL) {
		at = PUT(at, ", ");
		at = PUT_FIELD(at, ic->ic_opstr);
		at = app_put_number(at, ", lun ", ii->ii_lun);
	}
	at = PUT(at, ", itt ");
	at = put_hex(at, ii->ii_itt, 8);
	at = PUT(at, ", flags ");
	at = put_hex(at, ii->ii_flags, 2);
	at = put_iscsi_number(at, ", expects ", ii->ii_xferlen);
	at = put_iscsi_number(at, ", at ", ii->ii_offset);
	at = put_iscsi_number(at, ", data ", ii->ii_datalen);
	if (ii->ii_status != 0) {
		at = PUT(at, ", status ");
		at = put_hex(at, ii->ii_status, 4);
	}
	at = put_iscsi_number(at, ", response ", ii->ii_response);
	return app_put_number(at, ", cid ", ci->ci_cid);
}

const struct app_protocol iscsi_app = {
    .name = "iscsi",
    .ports = {.port = {3260}, .count = 1}, /* RFC 7143 section 13 */
    .reader = &iscsi_reader,
    .first = PROBE_ISCSI_ASYNC_SEND,
    .last = PROBE_ISCSI_TEXT_RESPONSE,
    .fire = iscsi_fire,
    .text = {STRUCT_ISCSIINFO, iscsi_format_line},
};
