/* SPDX-License-Identifier: BSD-2-Clause */
/* The dns probes: arguments, firing, printing. */
#include "apps/dns/dns.h"

#include <stdio.h>
#include <string.h>

#include "apps/app.h"
#include "base/text.h"
#include "probes/fire.h"
#include "probes/names.h"
#include "probes/netobs.h"
#include "probes/print/text_line.h"
#include "probes/site/semaphores.h"

static const char *
dns_type_word(uint16_t type)
{
	switch (type) {
	case 1: return "A";
	case 2: return "NS";
	case 5: return "CNAME";
	case 6: return "SOA";
	case 10: return "NULL";
	case 12: return "PTR";
	case 13: return "HINFO";
	case 15: return "MX";
	case 16: return "TXT";
	case 17: return "RP";
	case 18: return "AFSDB";
	case 24: return "SIG";
	case 25: return "KEY";
	case 28: return "AAAA";
	case 29: return "LOC";
	case 33: return "SRV";
	case 35: return "NAPTR";
	case 36: return "KX";
	case 37: return "CERT";
	case 39: return "DNAME";
	case 41: return "OPT";
	case 42: return "APL";
	case 43: return "DS";
	case 44: return "SSHFP";
	case 45: return "IPSECKEY";
	case 46: return "RRSIG";
	case 47: return "NSEC";
	case 48: return "DNSKEY";
	case 49: return "DHCID";
	case 50: return "NSEC3";
	case 51: return "NSEC3PARAM";
	case 52: return "TLSA";
	case 53: return "SMIMEA";
	case 55: return "HIP";
	case 59: return "CDS";
	case 60: return "CDNSKEY";
	case 61: return "OPENPGPKEY";
	case 62: return "CSYNC";
	case 63: return "ZONEMD";
	case 64: return "SVCB";
	case 65: return "HTTPS";
	case 99: return "SPF";
	case 249: return "TKEY";
	case 250: return "TSIG";
	case 251: return "IXFR";
	case 252: return "AXFR";
	case 255: return "ANY";
	case 256: return "URI";
	case 257: return "CAA";
	default: return NULL;
	}
}

static const char *
dns_rcode_word(uint16_t rcode)
{
	switch (rcode) {
	case 0: return "NOERROR";
	case 1: return "FORMERR";
	case 2: return "SERVFAIL";
	case 3: return "NXDOMAIN";
	case 4: return "NOTIMP";
	case 5: return "REFUSED";
	case 6: return "YXDOMAIN";
	case 7: return "YXRRSET";
	case 8: return "NXRRSET";
	case 9: return "NOTAUTH";
	case 10: return "NOTZONE";
	case 11: return "DSOTYPENI";
	case 16: return "BADVERS";
	case 23: return "BADCOOKIE";
	default: return NULL;
	}
}

static void
dns_put_word(char *to, size_t size, const char *word, const char *kind, uint16_t number)
{
	if (word != NULL)
		snprintf(to, size, "%s", word);
	else
		snprintf(to, size, "%s%u", kind, (unsigned)number);
}

void
dns_put_type(char *to, size_t size, uint16_t type)
{
	dns_put_word(to, size, dns_type_word(type), "TYPE", type);
}

void
dns_put_rcode(char *to, size_t size, uint16_t rcode)
{
	dns_put_word(to, size, dns_rcode_word(rcode), "RCODE", rcode);
}

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

static enum probe_id
dns_find_probe(const struct dns_message *message)
{
	if (message->timed_out)
		return PROBE_DNS_TIMEOUT;
	return (message->flags & DNS_RESPONSE) != 0 ? PROBE_DNS_RESPONSE : PROBE_DNS_QUERY;
}

/* Fires the probe of a message, a struct dns_message, unless it is not enabled. */
static void
dns_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	enum probe_id probe = dns_find_probe(message);
	struct dnsinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_dnsinfo(&info, message);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}

static char *
put_dns_answer(char *at, const struct dnsinfo *dns)
{
	at = APP_PUT_TEXT(at, ", ", dns->dns_rcodestr);
	at = app_put_number(at, ", answers ", dns->dns_answers);
	at = APP_PUT_TEXT(at, ", cname ", dns->dns_cname);
	at = APP_PUT_TEXT(at, ", addr ", dns->dns_addr);
	return app_put_time(at, ", latency ", dns->dns_latency_us);
}

static char *
dns_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct dnsinfo *dns = firing->arg[STRUCT_DNSINFO];

	if (ci == NULL || dns == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = PUT(at, ", ");
	at = PUT_FIELD(at, dns->dns_transport);
	at = app_put_number(at, " id ", dns->dns_id);
	if (dns->dns_questions > 0) {
		at = PUT(at, ", ");
		at = PUT_FIELD(at, dns->dns_qtypestr);
		at = PUT(at, " ");
		at = PUT_FIELD(at, dns->dns_qname);
	}
	if ((dns->dns_flags & DNS_RESPONSE) != 0)
		at = put_dns_answer(at, dns);
	if (dns->dns_tries > 1)
		at = app_put_number(at, ", tries ", dns->dns_tries);
	at = app_put_number(at, ", size ", dns->dns_size);
	return app_put_number(at, ", cid ", ci->ci_cid);
}

const struct app_protocol dns_app = {
    .name = "dns",
    .ports = {.port = {53, 5353, 5355}, .count = 3},
    .reader = &dns_reader,
    .names = true,
    .first = PROBE_DNS_QUERY,
    .last = PROBE_DNS_TIMEOUT,
    .fire = dns_fire,
    .text = {STRUCT_DNSINFO, dns_format_line},
};
