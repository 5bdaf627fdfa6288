/* SPDX-License-Identifier: BSD-2-Clause */
/* conninfo, the first argument of every application provider. */
#include "probes/args/args.h"

#include "probes/names.h"

void
args_conninfo(struct conninfo *info, const struct probe_endpoint *of, uint64_t packet, uint64_t now)
{
	const struct flow *flow = of->flow;
	unsigned version = flow->key.version;

	*info = (struct conninfo){
	    .ci_lport = flow->key.port[of->end],
	    .ci_rport = flow->key.port[1 - of->end],
	    .ci_cid = flow_cid(of->table, flow, of->end),
	    .ci_pkt = packet,
	    .ci_ts = now,
	};
	field_set_address(info->ci_local, sizeof info->ci_local, version, flow->key.addr[of->end]);
	field_set_address(info->ci_remote, sizeof info->ci_remote, version, flow->key.addr[1 - of->end]);
	field_set_string(info->ci_protocol, sizeof info->ci_protocol, version == 4 ? "ipv4" : "ipv6");
}
