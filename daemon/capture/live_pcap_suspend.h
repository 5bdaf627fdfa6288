/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interface that is open but not listened to (--on-demand).  To wake needs no privilege: the capture stays open.
 *
 * Asleep, a filter rejects everything in the kernel, and the socket is bound to a protocol that nobody speaks, which
 * takes it off the list of those that are shown every frame.  The filter alone would do, but each frame would still be
 * cloned for it on its way out, at the sender's cost: 0.3 us a frame of 2.6, which is 3 % of a core at 100,000 frames a
 * second.  Off the list there is no difference to be seen.
 *
 * A socket that shares frames with others (`shared`, fanout.h) stays on the list: the kernel binds it to nothing else.
 */
#ifndef NETOBS_DAEMON_CAPTURE_LIVE_PCAP_SUSPEND_H
#define NETOBS_DAEMON_CAPTURE_LIVE_PCAP_SUSPEND_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "daemon/config/config.h"

/* False, with a message logged, where that is not possible; what had been asked for before then holds. */
bool live_sleep(pcap_t *pcap, const char *name, bool shared);

/* Listens again, with the filter that the configuration has now. */
bool live_wake(const struct config *config, pcap_t *pcap, const char *name, bool shared);

#endif
