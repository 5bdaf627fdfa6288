/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1 (RFC 9112): a message, from bytes to fields. */
#ifndef NETOBS_APPS_HTTP_HTTP_MESSAGE_H
#define NETOBS_APPS_HTTP_HTTP_MESSAGE_H

struct http_message {
	int unused;
};

#endif
