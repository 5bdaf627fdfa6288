/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures an interface into a file without a name, which disappears with the program. */
#ifndef NETOBS_REPORT_LIVE_H
#define NETOBS_REPORT_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the file, at most; a capture that reaches them ends. */
#define REPORT_LIVE_BYTES (1ll << 30)

/* Seconds of a capture, at most: a day. */
#define REPORT_LIVE_SECONDS 86400u

struct report_live {
	const char *interface;
	const char *filter; /* expression of pcap-filter(7); NULL captures all frames */
	unsigned seconds;   /* 0: until SIGINT or SIGTERM, which end every capture */

	char path[32];	  /* of the file, for this process and its children */
	uint64_t dropped; /* frames that the kernel dropped because this program was too slow */
	bool broken;	  /* the interface disappeared, or the file cannot grow; `message` says what happened */
	char message[512];
};

/* Captures; false if nothing can be captured, or the file cannot be made, and `message` says why. */
bool report_live_capture(struct report_live *live);

#endif
