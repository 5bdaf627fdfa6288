/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens an interface as an activated, nonblocking libpcap handle, and explains failures. */
#ifndef NETOBS_CAPTURE_LIVE_PCAP_OPEN_H
#define NETOBS_CAPTURE_LIVE_PCAP_OPEN_H

#include <pcap/pcap.h>

#include "config/config.h"

/* Longest time for which the kernel holds frames back to deliver them in blocks. */
#define LIVE_DELIVERY_MS 10

enum live_open_mode {
	LIVE_OPEN_INITIAL, /* log every failure, with its remedy */
	LIVE_OPEN_AWAIT,   /* likewise; an interface that is missing or down is awaited */
	LIVE_OPEN_RETRY,   /* do not log that the interface is missing, is down or may not be opened */
};

/* NULL if the interface cannot be observed; `*status` (unless `status` is NULL) is then libpcap's code, such as
 * PCAP_ERROR_PERM_DENIED, PCAP_ERROR_NO_SUCH_DEVICE also if the interface was removed or renamed meanwhile, or
 * PCAP_ERROR if a message has been logged. */
pcap_t *live_pcap_open(const struct config *config, const char *name, enum live_open_mode mode, int *status);

/* Size of the kernel's buffer for an interface, bytes. */
int live_pcap_buffer_size(const struct config *config);

/* Whether opening failed because the permission is missing. */
bool live_is_permission_status(int status);

/* The first checks that the configured filter compiles for an open interface, the second sets it.  False with a message
 * logged. */
bool live_pcap_check_filter(const struct config *config, pcap_t *pcap, const char *name);
bool live_pcap_set_filter(const struct config *config, pcap_t *pcap, const char *name);

/* Checks that the configured filter compiles for an interface that is not there yet, as if it were an Ethernet. */
bool live_pcap_check_filter_early(const struct config *config, const char *name);

#endif
