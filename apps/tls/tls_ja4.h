/* SPDX-License-Identifier: BSD-2-Clause */
/* JA4, the fingerprint of a TLS client (FoxIO, JA4 only). */
#ifndef NETOBS_APPS_TLS_TLS_JA4_H
#define NETOBS_APPS_TLS_TLS_JA4_H

#include "apps/tls/tls_hello.h"

/* Writes the fingerprint of a complete ClientHello on TCP; "" if it has more values than are kept. */
void tls_ja4(const struct tls_client *client, char ja4[TLS_JA4_SIZE]);

#endif
