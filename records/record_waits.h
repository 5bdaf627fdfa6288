/* SPDX-License-Identifier: BSD-2-Clause */
/* What the time of connections went to: the fields cr_connect_us to cr_unknown_us of connrec_t, as an array. */
#ifndef NETOBS_RECORDS_RECORD_WAITS_H
#define NETOBS_RECORDS_RECORD_WAITS_H

#include <stdint.h>

#include "probes/netobs.h"

/* In the order of the fields. */
enum record_wait {
	RECORD_WAIT_CONNECT,
	RECORD_WAIT_PATH,
	RECORD_WAIT_NETWORK,
	RECORD_WAIT_CLIENT,
	RECORD_WAIT_SERVER,
	RECORD_WAIT_CLIENT_SENDING,
	RECORD_WAIT_SERVER_SENDING,
	RECORD_WAIT_CLIENT_WINDOW,
	RECORD_WAIT_SERVER_WINDOW,
	RECORD_WAIT_CLIENT_LOST,
	RECORD_WAIT_SERVER_LOST,
	RECORD_WAIT_CLOSING,
	RECORD_WAIT_UNKNOWN,
	RECORD_WAITS
};

/* The name of a field without "cr_" and "_us": "client_sending". */
const char *record_wait_name(enum record_wait wait);

/* The times of a record, us. */
void record_waits_of(const struct connrec *record, uint64_t us[RECORD_WAITS]);

/* What was waited for longest, in a word: "server", "loss"; "-" if there was no time. */
const char *record_waits_longest(const uint64_t us[RECORD_WAITS]);

#endif
