/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments from SCTP: sctpinfo, sctpsinfo. */
#include <string.h>

#include "flow/sctp/sctp.h"
#include "probes/args/args.h"
#include "probes/names.h"

/* Number of addresses that fit into sctps_raddrs and sctps_laddrs. */
#define ADDRESSES_SHOWN 4

void
args_sctpinfo(struct sctpinfo *info, const struct packet *packet)
{
	const struct sctp_layer *sctp = &packet->sctp;

	*info = (struct sctpinfo){
	    .sctp_sport = sctp->sport,
	    .sctp_dport = sctp->dport,
	    .sctp_verify = sctp->verification_tag,
	    .sctp_checksum = sctp->checksum,
	    .sctp_hdr = args_pointer(sctp->header.at),
	    .sctp_chunk_type = sctp->first_chunk,
	    .sctp_chunk_count = sctp->chunk_count,
	};
}

/* Writes the addresses of an endpoint, separated by spaces.  Returns how many it has. */
static netobs_u32
args_format_sctp_addresses(char *text, size_t size, const struct probe_endpoint *of, unsigned endpoint)
{
	struct sctp_address addresses[SCTP_ADDRESSES_MAX];
	unsigned count = sctp_get_addresses(of->table, of->flow, endpoint, addresses);
	size_t length = 0;

	memset(text, 0, size);
	for (unsigned i = 0; i < count && i < ADDRESSES_SHOWN; i++) {
		char one[46];
		size_t n;

		field_set_address(one, sizeof one, addresses[i].version, addresses[i].bytes);
		n = strlen(one);
		if (length + n + 2 > size)
			break;
		if (length > 0)
			text[length++] = ' ';
		memcpy(text + length, one, n);
		length += n;
	}
	return count;
}

void
args_sctpsinfo(struct sctpsinfo *info, const struct probe_endpoint *of, enum sctp_state state)
{
	const struct flow *flow = of->flow;
	unsigned peer = 1 - of->end, version = flow->key.version;

	*info = (struct sctpsinfo){
	    .sctps_addr = flow_cid(of->table, flow, of->end),
	    .sctps_lport = flow->key.port[of->end],
	    .sctps_rport = flow->key.port[peer],
	    .sctps_state = (netobs_i32)state,
	};
	info->sctps_num_laddrs = args_format_sctp_addresses(info->sctps_laddrs, sizeof info->sctps_laddrs, of, of->end);
	info->sctps_num_raddrs = args_format_sctp_addresses(info->sctps_raddrs, sizeof info->sctps_raddrs, of, peer);
	field_set_address(info->sctps_laddr, sizeof info->sctps_laddr, version, flow->key.addr[of->end]);
	field_set_address(info->sctps_raddr, sizeof info->sctps_raddr, version, flow->key.addr[peer]);
}
