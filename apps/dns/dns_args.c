/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_args.h"

#include <string.h>

#include "apps/dns/dns_words.h"
#include "probes/names.h"

static const char *const dns_transport_words[] = {
    [DNS_UDP] = "udp",
    [DNS_TCP] = "tcp",
    [DNS_MDNS] = "mdns",
    [DNS_LLMNR] = "llmnr",
};

void
args_dnsinfo(struct dnsinfo *info, const struct dns_message *m)
{
	*info = (struct dnsinfo){
	    .dns_id = m->id,
	    .dns_qtype = m->qtype,
	    .dns_qclass = m->qclass,
	    .dns_flags = m->flags,
	    .dns_rcode = m->rcode,
	    .dns_questions = m->questions,
	    .dns_answers = m->answers,
	    .dns_authority = m->authority,
	    .dns_additional = m->additional,
	    .dns_edns_size = m->edns_size,
	    .dns_dnssec_ok = m->dnssec_ok,
	    .dns_ttl = m->ttl,
	    .dns_size = m->size,
	    .dns_tries = m->tries,
	    .dns_latency_us = m->latency_us,
	};
	memcpy(info->dns_qname, m->qname, sizeof info->dns_qname);
	memcpy(info->dns_cname, m->cname, sizeof info->dns_cname);
	if (m->addr_version != 0)
		field_set_address(info->dns_addr, sizeof info->dns_addr, m->addr_version, m->addr);
	if (m->questions > 0)
		dns_put_type(info->dns_qtypestr, sizeof info->dns_qtypestr, m->qtype);
	dns_put_rcode(info->dns_rcodestr, sizeof info->dns_rcodestr, m->rcode);
	field_set_string(info->dns_transport, sizeof info->dns_transport, dns_transport_words[m->transport]);
}
