/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_waits.h"

#include <stddef.h>
#include <string.h>

#define FIRST_OFFSET offsetof(struct connrec, cr_connect_us)

_Static_assert(offsetof(struct connrec, cr_server_us) == FIRST_OFFSET + RECORD_WAIT_SERVER * sizeof(netobs_u64) &&
		   offsetof(struct connrec, cr_unknown_us) == FIRST_OFFSET + RECORD_WAIT_UNKNOWN * sizeof(netobs_u64),
	       "the fields are in the order of enum record_wait");

const char *
record_wait_name(enum record_wait wait)
{
	static const char *const names[RECORD_WAITS] = {
	    "connect",	      "path",	       "network",	"client",      "server",      "client_sending",
	    "server_sending", "client_window", "server_window", "client_lost", "server_lost", "closing",
	    "unknown",
	};

	return names[wait];
}

void
record_waits_of(const struct connrec *record, uint64_t us[RECORD_WAITS])
{
	memcpy(us, (const char *)record + FIRST_OFFSET, RECORD_WAITS * sizeof *us);
}

const char *
record_waits_longest(const uint64_t us[RECORD_WAITS])
{
	const struct {
		uint64_t us;
		const char *word;
	} waits[] = {
	    {0, "-"},
	    {us[RECORD_WAIT_SERVER], "server"},
	    {us[RECORD_WAIT_CLIENT_LOST] + us[RECORD_WAIT_SERVER_LOST], "loss"},
	    {us[RECORD_WAIT_CLIENT_WINDOW] + us[RECORD_WAIT_SERVER_WINDOW], "window"},
	    {us[RECORD_WAIT_CLIENT_SENDING] + us[RECORD_WAIT_SERVER_SENDING], "sender"},
	    {us[RECORD_WAIT_CONNECT], "SYN"},
	    {us[RECORD_WAIT_PATH], "path"},
	    {us[RECORD_WAIT_NETWORK], "data"},
	    {us[RECORD_WAIT_CLIENT], "client"},
	    {us[RECORD_WAIT_CLOSING], "FIN"},
	    {us[RECORD_WAIT_UNKNOWN], "?"},
	};
	size_t most = 0;

	for (size_t i = 1; i < sizeof waits / sizeof waits[0]; i++)
		if (waits[i].us > waits[most].us)
			most = i;
	return waits[most].word;
}
