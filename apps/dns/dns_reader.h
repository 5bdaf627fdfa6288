/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DNS: the messages of a connection.  On UDP a datagram is a message; on TCP two bytes of length precede each
 * (RFC 1035 section 4.2.2).
 */
#ifndef NETOBS_APPS_DNS_DNS_READER_H
#define NETOBS_APPS_DNS_DNS_READER_H

#include "flow/stream/app_reader.h"

/* Bytes of a message on TCP that are kept if it comes in parts: those behind them are not parsed. */
#define DNS_KEPT_MAX 4096u

extern const struct app_reader dns_reader;

#endif
