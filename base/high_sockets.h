/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * High descriptors for the sockets that capture frames.
 *
 * The kernel checks CAP_NET_RAW only when a packet socket is created.  A process that has one can also send
 * frames with it, and bind it to another interface, without a capability.
 * The system-call filter therefore has to distinguish these
 * sockets from what netobsd writes to, and all that it sees of them is the number of the descriptor.  So these sockets
 * have numbers from a boundary on, and everything else has numbers below.  The boundary is a power of two: the filter
 * compares those bits of the argument that the kernel reads, the lower 32, with a mask.
 *
 * libpcap opens its sockets itself and cannot be given another descriptor.  Hence socket(), which all libraries call,
 * is defined here: it moves a socket of that kind before libpcap sees it, also while other threads run.  Netlink
 * sockets for routes and socket diagnostics stay low: the kernel checks the capabilities of the one that sends, each
 * time.
 *
 * The alternative is a process that keeps the capability, opens the sockets and passes them on.  It would reopen
 * interfaces also for a netobsd that has no capability, and only those of the configuration.  But a socket that was
 * passed sends like any other, and recvmsg() gives it a low number first, so the rule for descriptors would be needed
 * as well; and there would be one more privileged process, its protocol, and its end to handle.
 */
#ifndef NETOBS_BASE_HIGH_SOCKETS_H
#define NETOBS_BASE_HIGH_SOCKETS_H

#include <stdbool.h>

/* Chooses the boundary for as many sockets that capture frames, `high`, and as many other descriptors, `low`, and
 * raises the limit of open files as far as needed.  Fewer than `low` are possible, with a warning, but not fewer than
 * `least`: false then, with a message logged.  Call it before the first of these sockets is opened. */
bool high_sockets_reserve(unsigned high, unsigned low, unsigned least);

/* The lowest descriptor of such a socket, 0 before high_sockets_reserve(). */
unsigned high_sockets_boundary(void);

/* How many other descriptors there can be: below the boundary, or as many as may be open without one. */
unsigned high_sockets_others(void);

/* Whether the descriptor is one of those for such sockets. */
bool high_sockets_include(int fd);

#endif
