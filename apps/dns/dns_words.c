/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_words.h"

#include <stdio.h>

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
