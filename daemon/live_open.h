/* SPDX-License-Identifier: BSD-2-Clause */
/* From an interface's name to an activated, nonblocking libpcap handle, and what to say where that fails. */
#ifndef NETOBS_DAEMON_LIVE_OPEN_H
#define NETOBS_DAEMON_LIVE_OPEN_H

#include <pcap/pcap.h>

#include "daemon/config.h"

/* NULL, with a message logged that says what would work, if the interface cannot be observed. */
pcap_t *live_open_interface(const struct config *config, const char *name);

/* Whether the configuration's filter suits an open interface; takes it.  False with a message logged. */
bool live_check_filter(const struct config *config, pcap_t *pcap, const char *name);
bool live_set_filter(const struct config *config, pcap_t *pcap, const char *name);

#endif
