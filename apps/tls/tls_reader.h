/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS (RFC 8446, RFC 5246): the messages of a connection. */
#ifndef NETOBS_APPS_TLS_TLS_READER_H
#define NETOBS_APPS_TLS_TLS_READER_H

#include "flow/stream/app_flow.h"

extern const struct app_reader tls_reader;

#endif
