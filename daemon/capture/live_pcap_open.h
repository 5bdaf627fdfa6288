/* SPDX-License-Identifier: BSD-2-Clause */
/* From an interface's name to an activated, nonblocking libpcap handle, and what to say where that fails. */
#ifndef NETOBS_DAEMON_CAPTURE_LIVE_PCAP_OPEN_H
#define NETOBS_DAEMON_CAPTURE_LIVE_PCAP_OPEN_H

#include <pcap/pcap.h>

#include "daemon/config/config.h"

enum live_open_mode {
	OPEN_FIRST, /* whatever goes wrong is logged, with what would work instead */
	OPEN_AGAIN, /* an interface that is not there, is down or may not be opened is no news */
};

/* NULL if the interface cannot be observed; `*status` (NULL: not wanted) is then libpcap's word for it, such as
 * PCAP_ERROR_PERM_DENIED, or PCAP_ERROR where a message has been logged. */
pcap_t *live_open_interface(const struct config *config, const char *name, enum live_open_mode mode, int *status);

/* Whether the configuration's filter suits an open interface; takes it.  False with a message logged. */
bool live_check_filter(const struct config *config, pcap_t *pcap, const char *name);
bool live_set_filter(const struct config *config, pcap_t *pcap, const char *name);

#endif
