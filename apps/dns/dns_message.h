/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS (RFC 1035): a message, from bytes to fields. */
#ifndef NETOBS_APPS_DNS_DNS_MESSAGE_H
#define NETOBS_APPS_DNS_DNS_MESSAGE_H

struct dns_message {
	int unused;
};

#endif
