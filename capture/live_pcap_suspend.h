/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suspends capture on an open interface while no tracer is attached (--on-demand).  The handle stays open, so resuming
 * needs no privilege.
 *
 * While suspended a filter rejects every frame in the kernel, and the socket is bound to an unused protocol, which
 * removes it from the kernel's list of sockets that see all frames.  The filter alone would suffice, but every outgoing
 * frame would still be cloned for the socket at the sender's cost: 0.3 us a frame of 2.6, or 3 % of a core at 100,000
 * frames a second.  Off the list there is no measurable cost.
 *
 * A socket in a fanout group (`shared`, fanout.h) stays on the list: the kernel does not allow to rebind it.
 */
#ifndef NETOBS_CAPTURE_LIVE_PCAP_SUSPEND_H
#define NETOBS_CAPTURE_LIVE_PCAP_SUSPEND_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "config/config.h"

/* False, with a message logged, on failure; the previous state then stays in effect. */
bool live_pcap_suspend(pcap_t *pcap, const char *name, bool shared);

/* Resumes capture with the present configuration's filter. */
bool live_pcap_resume(const struct config *config, pcap_t *pcap, const char *name, bool shared);

/* The capture ends: the kernel counts no more frames.  Those that it has counted are delivered within
 * 2 * LIVE_DELIVERY_MS. */
void live_pcap_end(pcap_t *pcap);

#endif
