/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS (RFC 8446, RFC 5246): a message, from bytes to fields. */
#ifndef NETOBS_APPS_TLS_TLS_MESSAGE_H
#define NETOBS_APPS_TLS_TLS_MESSAGE_H

struct tls_message {
	int unused;
};

#endif
