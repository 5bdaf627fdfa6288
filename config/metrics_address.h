/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics address as text: unix:PATH, 127.0.0.1:9100 or [::1]:9100. */
#ifndef NETOBS_CONFIG_METRICS_ADDRESS_H
#define NETOBS_CONFIG_METRICS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

union metrics_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Parses an Internet address with its port; false if it is none. */
bool metrics_address_parse(const char *text, union metrics_address *address, socklen_t *size);

/* Whether only this host can reach the address. */
bool metrics_address_is_loopback(const union metrics_address *address);

#endif
