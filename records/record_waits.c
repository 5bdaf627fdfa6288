/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_waits.h"

#include <stddef.h>
#include <string.h>

#define FIRST_OFFSET offsetof(struct connrec, cr_connect_us)

_Static_assert(offsetof(struct connrec, cr_server_us) == FIRST_OFFSET + CONNREC_WAIT_SERVER * sizeof(netobs_u64) &&
		   offsetof(struct connrec, cr_unknown_us) == FIRST_OFFSET + CONNREC_WAIT_UNKNOWN * sizeof(netobs_u64),
	       "the fields are in the order of enum connrec_wait");

const char *
record_wait_name(enum connrec_wait wait)
{
	static const char *const names[CONNREC_WAITS] = {
	    "connect",	      "path",	       "network",	"client",      "server",      "client_sending",
	    "server_sending", "client_window", "server_window", "client_lost", "server_lost", "closing",
	    "unknown",
	};

	return names[wait];
}

void
record_waits_of(const struct connrec *record, uint64_t us[CONNREC_WAITS])
{
	memcpy(us, (const char *)record + FIRST_OFFSET, CONNREC_WAITS * sizeof *us);
}

const char *
record_waits_longest(const uint64_t us[CONNREC_WAITS])
{
	const struct {
		uint64_t us;
		const char *word;
	} waits[] = {
	    {0, "-"},
	    {us[CONNREC_WAIT_SERVER], "server"},
	    {us[CONNREC_WAIT_CLIENT_LOST] + us[CONNREC_WAIT_SERVER_LOST], "loss"},
	    {us[CONNREC_WAIT_CLIENT_WINDOW] + us[CONNREC_WAIT_SERVER_WINDOW], "window"},
	    {us[CONNREC_WAIT_CLIENT_SENDING] + us[CONNREC_WAIT_SERVER_SENDING], "sender"},
	    {us[CONNREC_WAIT_CONNECT], "SYN"},
	    {us[CONNREC_WAIT_PATH], "path"},
	    {us[CONNREC_WAIT_NETWORK], "data"},
	    {us[CONNREC_WAIT_CLIENT], "client"},
	    {us[CONNREC_WAIT_CLOSING], "FIN"},
	    {us[CONNREC_WAIT_UNKNOWN], "?"},
	};
	size_t most = 0;

	for (size_t i = 1; i < sizeof waits / sizeof waits[0]; i++)
		if (waits[i].us > waits[most].us)
			most = i;
	return waits[most].word;
}
