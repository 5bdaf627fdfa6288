/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1 (RFC 9112): the messages of a connection. */
#ifndef NETOBS_APPS_HTTP_HTTP_READER_H
#define NETOBS_APPS_HTTP_HTTP_READER_H

#include "flow/stream/app_flow.h"

extern const struct app_reader http_reader;

#endif
