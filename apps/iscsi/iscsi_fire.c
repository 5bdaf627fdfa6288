/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/iscsi/iscsi_fire.h"

#include "apps/iscsi/iscsi_args.h"
#include "probes/site/semaphores.h"

/* Probe of a PDU by its operation code; PROBE_COUNT if it has none. */
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

bool
iscsi_probes_enabled(void)
{
	bool enabled = false;

	/* The iscsi probes are consecutive in probes/netobs.d. */
	for (unsigned id = PROBE_ISCSI_ASYNC_SEND; id <= PROBE_ISCSI_TEXT_RESPONSE; id++)
		enabled |= semaphores_enabled(id);
	return enabled;
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
