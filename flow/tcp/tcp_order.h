/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order in which an endpoint sent its segments: tells a duplicate and a reordered first transmission from a
 * retransmission.
 *
 * The evidence is the send stamp (packet_send_stamp()) of the segments in the send log.  A duplicate has the stamp of
 * the segment that it repeats; a segment that was overtaken has an older stamp than data captured before it; a
 * retransmission has a newer one.  Stamps from the IPv4 identification count only if the sender has counted them up so
 * far.  Without usable stamps, a segment that fills a gap is a retransmission if the sender had a reason to send one.
 */
#ifndef NETOBS_FLOW_TCP_TCP_ORDER_H
#define NETOBS_FLOW_TCP_TCP_ORDER_H

#include "flow/tcp/tcp_segment.h"

/* Classifies a segment that sends [seq, end_seq), which begins below SND.NXT. */
struct tcp_repeat tcp_order_classify(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

#endif
