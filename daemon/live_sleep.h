/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interface that is open but not listened to (--on-demand).  To wake needs no privilege: the capture stays open.
 *
 * Asleep, a filter rejects everything in the kernel, and the socket is bound to a protocol that nobody speaks, which
 * takes it off the list of those that are shown every frame.  The filter alone would do, but each frame would still be
 * cloned for it on its way out: 85 ns a frame of the sender's time, which is nearly a hundredth of a core at 100,000
 * frames a second; off the list it is none.
 */
#ifndef NETOBS_DAEMON_LIVE_SLEEP_H
#define NETOBS_DAEMON_LIVE_SLEEP_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "daemon/config.h"

/* False, with a message logged, where that is not possible; what had been asked for before then holds. */
bool live_sleep(pcap_t *pcap, const char *name);

/* Listens again, with the filter that the configuration has now. */
bool live_wake(const struct config *config, pcap_t *pcap, const char *name);

#endif
