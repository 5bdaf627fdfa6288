/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_print.h"

#include "apps/dns/dns_message.h"
#include "probes/netobs.h"

static char *
put_dns_answer(char *at, const struct dnsinfo *dns)
{
	at = PUT(at, ", ");
	at = PUT_FIELD(at, dns->dns_rcodestr);
	at = PUT(at, ", answers ");
	at = put_u32(at, dns->dns_answers);
	if (dns->dns_cname[0] != '\0') {
		at = PUT(at, ", cname ");
		at = PUT_FIELD(at, dns->dns_cname);
	}
	if (dns->dns_addr[0] != '\0') {
		at = PUT(at, ", addr ");
		at = PUT_FIELD(at, dns->dns_addr);
	}
	if (dns->dns_latency_us >= 0) {
		at = PUT(at, ", latency ");
		at = put_u64(at, (uint64_t)dns->dns_latency_us);
		at = PUT(at, " us");
	}
	return at;
}

char *
dns_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct dnsinfo *dns = firing->arg[STRUCT_DNSINFO];

	if (ci == NULL || dns == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = PUT(at, ", ");
	at = PUT_FIELD(at, dns->dns_transport);
	at = PUT(at, " id ");
	at = put_u32(at, dns->dns_id);
	if (dns->dns_questions > 0) {
		at = PUT(at, ", ");
		at = PUT_FIELD(at, dns->dns_qtypestr);
		at = PUT(at, " ");
		at = PUT_FIELD(at, dns->dns_qname);
	}
	if ((dns->dns_flags & DNS_RESPONSE) != 0)
		at = put_dns_answer(at, dns);
	if (dns->dns_tries > 1) {
		at = PUT(at, ", tries ");
		at = put_u32(at, dns->dns_tries);
	}
	at = PUT(at, ", size ");
	at = put_u32(at, dns->dns_size);
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
