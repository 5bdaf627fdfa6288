/* SPDX-License-Identifier: BSD-2-Clause */
/* What the time of connections went to: the fields cr_connect_us to cr_unknown_us of connrec_t, as an array. */
#ifndef NETOBS_RECORDS_RECORD_WAITS_H
#define NETOBS_RECORDS_RECORD_WAITS_H

#include <stdint.h>

#include "probes/netobs.h"

/* In the order of the fields. */
enum connrec_wait {
	CONNREC_WAIT_CONNECT,
	CONNREC_WAIT_PATH,
	CONNREC_WAIT_NETWORK,
	CONNREC_WAIT_CLIENT,
	CONNREC_WAIT_SERVER,
	CONNREC_WAIT_CLIENT_SENDING,
	CONNREC_WAIT_SERVER_SENDING,
	CONNREC_WAIT_CLIENT_WINDOW,
	CONNREC_WAIT_SERVER_WINDOW,
	CONNREC_WAIT_CLIENT_LOST,
	CONNREC_WAIT_SERVER_LOST,
	CONNREC_WAIT_CLOSING,
	CONNREC_WAIT_UNKNOWN,
	CONNREC_WAITS
};

/* The name of a field without "cr_" and "_us": "client_sending". */
const char *record_wait_name(enum connrec_wait wait);

/* The times of a record, us. */
void record_waits_of(const struct connrec *record, uint64_t us[CONNREC_WAITS]);

/* What was waited for longest, in a word: "server", "loss"; "-" if there was no time. */
const char *record_waits_longest(const uint64_t us[CONNREC_WAITS]);

#endif
