/* SPDX-License-Identifier: BSD-2-Clause */
/* The extensions of a ClientHello or ServerHello (RFC 8446 section 4.2), parsed as a stream. */
#ifndef NETOBS_APPS_TLS_TLS_EXTENSION_H
#define NETOBS_APPS_TLS_TLS_EXTENSION_H

#include "apps/tls/tls_hello.h"

/* Begins the extension hello->extension of hello->list_left bytes. */
void tls_extension_begin(struct tls_hello *hello);

/* Reads the next bytes of the extension, at most hello->list_left; the number of bytes read. */
uint32_t tls_extension_read(struct tls_hello *hello, struct slice bytes);

/* The extension has ended. */
void tls_extension_end(struct tls_hello *hello);

#endif
