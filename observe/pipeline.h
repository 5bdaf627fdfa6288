/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path of every frame through an observer, traced or not, of any link type.
 *
 * The peek reads the headers, the memory of the flow is fetched in stages, and then the frame is applied: while no
 * probe is enabled that fires for every packet, a regular packet of a known flow takes the fast path (flow/fastpath.h),
 * which has exactly the results of the slow path without events; every other frame is dissected and observed.  If only
 * formulas read such probes, a packet that all of them reject by its headers takes the fast path, too (screening).
 */
#ifndef NETOBS_OBSERVE_PIPELINE_H
#define NETOBS_OBSERVE_PIPELINE_H

#include "observe/observer_internal.h"

/* Observes frames in order. */
void pipeline_run(struct observer *observer, const struct frame *frames, unsigned count);

#endif
