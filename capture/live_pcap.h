/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens an interface as an activated, nonblocking libpcap handle, and explains failures. */
#ifndef NETOBS_CAPTURE_LIVE_PCAP_H
#define NETOBS_CAPTURE_LIVE_PCAP_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* ------------------------------------------------------------------------------------------------ live pcap suspend */

/*
 * Suspends capture on an open interface while no tracer is attached (--on-demand).  The handle stays open, so resuming
 * needs no privilege.
 *
 * While suspended a filter rejects every frame in the kernel, and the socket is bound to an unused protocol, which
 * removes it from the kernel's list of sockets that see all frames.  The filter alone would suffice, but every outgoing
 * frame would still be cloned for the socket at the sender's cost: 0.3 us a frame of 2.6, or 3 % of a core at 100,000
 * frames a second.  Off the list there is no measurable cost.
 *
 * A socket in a fanout group (`shared`) stays on the list: the kernel does not allow to rebind it.
 */

/* False, with a message logged, on failure; the previous state then stays in effect. */
bool live_pcap_suspend(pcap_t *pcap, const char *name, bool shared);

/* Resumes capture with the present configuration's filter. */
bool live_pcap_resume(const struct config *config, pcap_t *pcap, const char *name, bool shared);

/* The capture ends: the kernel counts no more frames.  Those that it has counted are delivered within
 * 2 * LIVE_DELIVERY_MS. */
void live_pcap_end(pcap_t *pcap);

/* ----------------------------------------------------------------------------------------------------------- fanout */

/*
 * Distributes the frames of an interface over several capture sockets (PACKET_FANOUT, packet(7)).  The kernel selects
 * the socket by a hash of addresses, protocol and ports that is equal in both directions (PACKET_FANOUT_HASH; symmetric
 * since Linux 4.8), so one socket receives all frames of a connection.  Fragments are hashed by addresses only and may
 * go to another socket than the whole packets of the same hosts.
 *
 * One object per run, shared by all workers; each of them may call its functions.
 */

struct fanout;

/* For `interfaces` configured interfaces.  NULL if out of memory. */
struct fanout *fanout_new(size_t interfaces);
void fanout_free(struct fanout *fanout);

/* Adds a bound capture socket to the group of the configured interface number `index`, whose interface index is now
 * `ifindex` (0: "any").  Until then the socket received every frame.  Returns the number of the group; negative with
 * errno if the kernel refuses. */
int fanout_join(struct fanout *fanout, size_t index, uint32_t ifindex, int fd);

/* Call it before a socket of the group is closed. */
void fanout_leave(struct fanout *fanout, size_t index, int group);

#endif
