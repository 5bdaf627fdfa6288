/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the host that a request over HTTP asks for.  A page of another site whose name leads to loopback (DNS
 * rebinding) could read replies that its browser takes for those of that site; its requests have the name in their
 * field Host.
 */
#ifndef NETOBS_DAEMON_METRICS_HTTP_HOST_H
#define NETOBS_DAEMON_METRICS_HTTP_HOST_H

#include <stddef.h>

enum http_host {
	HTTP_HOST_INVALID, /* the header breaks RFC 9112: a NUL, a bare CR or LF, a folded line, two fields Host */
	HTTP_HOST_NONE,	   /* there is no field Host */
	HTTP_HOST_LOCAL,   /* an address of loopback or a name of it, perhaps with a port */
	HTTP_HOST_OTHER,
};

/* Finds the field Host in the header after the request line; `length` includes the empty line. */
enum http_host http_host_find(const char *header, size_t length);

#endif
