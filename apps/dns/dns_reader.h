/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS (RFC 1035): the messages of a connection. */
#ifndef NETOBS_APPS_DNS_DNS_READER_H
#define NETOBS_APPS_DNS_DNS_READER_H

#include "flow/stream/app_flow.h"

extern const struct app_reader dns_reader;

#endif
