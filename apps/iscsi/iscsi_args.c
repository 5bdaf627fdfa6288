/* SPDX-License-Identifier: BSD-2-Clause */
/* The argument structs of the iscsi probes: iscsiinfo and iscsicmd. */
#include "apps/iscsi/iscsi_args.h"

#include <string.h>

#include "probes/names.h"

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
