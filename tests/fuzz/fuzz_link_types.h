/* SPDX-License-Identifier: BSD-2-Clause */
/* The link types of fuzz_frame: the first byte of an input is an index here. */
#ifndef NETOBS_TESTS_FUZZ_LINK_TYPES_H
#define NETOBS_TESTS_FUZZ_LINK_TYPES_H

#include <pcap/dlt.h>

/* Of 32, those without a type of their own are 802.11: its headers have most forms. */
static const int fuzz_link_types[32] = {
	DLT_EN10MB,
	DLT_LINUX_SLL,
	DLT_LINUX_SLL2,
	DLT_NULL,
	DLT_LOOP,
	DLT_RAW,
	DLT_IPV4,
	DLT_IPV6,
	DLT_PPP,
	DLT_PPP_SERIAL,
	DLT_PPP_ETHER,
	DLT_PPP_PPPD,
	DLT_PPP_WITH_DIR,
	DLT_C_HDLC,
	DLT_C_HDLC_WITH_DIR,
	DLT_FRELAY,
	DLT_FRELAY_WITH_DIR,
	DLT_NFLOG,
	DLT_IPNET,
	DLT_ENC,
	DLT_IPOIB,
	DLT_IP_OVER_FC,
	DLT_IEEE802_11,
	DLT_IEEE802_11_RADIO,
	DLT_PRISM_HEADER,
	DLT_IEEE802_11_RADIO_AVS,
	DLT_IEEE802_11,
	DLT_IEEE802_11_RADIO,
	DLT_IEEE802_11,
	DLT_IEEE802_11_RADIO,
	DLT_IEEE802_11,
	DLT_IEEE802_11_RADIO,
};

#endif
