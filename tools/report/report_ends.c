/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_ends.h"

#include <stdlib.h>

struct report_end_trouble *
report_end_add_trouble(struct report_end_events *end, uint64_t cid)
{
	if (end->trouble == NULL)
		end->trouble = calloc(1, sizeof(*end->trouble));
	if (end->trouble != NULL && end->trouble->cid != cid)
		*end->trouble = (struct report_end_trouble){.cid = cid};
	return end->trouble;
}

struct report_request_event *
report_end_add_request(struct report_end_events *end)
{
	if (end->request == NULL)
		end->request = calloc(1, sizeof(*end->request));
	return end->request;
}

const struct report_end_trouble *
report_end_trouble(const struct report_end_events *end)
{
	static const struct report_end_trouble none;

	return end->trouble != NULL ? end->trouble : &none;
}

const struct report_request_event *
report_end_request(const struct report_end_events *end)
{
	static const struct report_request_event none;

	return end->request != NULL ? end->request : &none;
}

uint64_t
report_end_packet(const struct report_end_events *end, enum report_event event)
{
	return event == REPORT_OPENED ? end->opened_packet : report_end_trouble(end)->packets[event];
}

void
report_end_clear(struct report_end_events *end)
{
	free(end->request);
	free(end->trouble);
	*end = (struct report_end_events){0};
}
