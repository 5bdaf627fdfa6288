/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_tally.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

void
record_tally_add(struct record_tally *tally, const struct connrec *record)
{
	static const char reset_by[] = "reset-by-";

	tally->lines++;
	if (strcmp(record->cr_reason, "open") == 0)
		return;
	tally->connections++;
	tally->tcp += record->cr_protocol == IPPROTO_TCP;
	tally->udp += record->cr_protocol == IPPROTO_UDP;
	tally->sctp += record->cr_protocol == IPPROTO_SCTP;
	tally->refused += strcmp(record->cr_reason, "refused") == 0;
	tally->unreachable += strcmp(record->cr_reason, "unreachable") == 0;
	tally->unanswered += strcmp(record->cr_reason, "no-answer") == 0;
	tally->reset += strncmp(record->cr_reason, reset_by, sizeof reset_by - 1) == 0;
}

/* Appends "SEPARATORCOUNT WORD", unless the count is 0.  Returns the next separator: ", " behind a count. */
static const char *
record_tally_append(char text[RECORD_TALLY_MAX], const char *separator, uint64_t count, const char *word)
{
	size_t used = strlen(text);

	if (count == 0)
		return separator;
	snprintf(text + used, RECORD_TALLY_MAX - used, "%s%llu %s", separator, (unsigned long long)count, word);
	return ", ";
}

void
record_tally_format(const struct record_tally *tally, uint64_t limit, char text[RECORD_TALLY_MAX])
{
	const char *separator = ": ";
	size_t used;

	snprintf(text, RECORD_TALLY_MAX, "%llu connection%s", (unsigned long long)tally->connections,
		 tally->connections == 1 ? "" : "s");
	separator = record_tally_append(text, separator, tally->tcp, "TCP");
	separator = record_tally_append(text, separator, tally->udp, "UDP");
	(void)record_tally_append(text, separator, tally->sctp, "SCTP");
	separator = record_tally_append(text, "; ", tally->refused, "refused");
	separator = record_tally_append(text, separator, tally->unreachable, "unreachable");
	separator = record_tally_append(text, separator, tally->unanswered, "no-answer");
	(void)record_tally_append(text, separator, tally->reset, "reset");
	used = strlen(text);
	if (limit != 0 && limit < tally->lines)
		snprintf(text + used, RECORD_TALLY_MAX - used, "; %llu of %llu lines shown", (unsigned long long)limit,
			 (unsigned long long)tally->lines);
}
