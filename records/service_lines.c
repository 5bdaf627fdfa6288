/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/service_lines.h"

#include <netinet/in.h>
#include <stdio.h>

#include "base/text.h"
#include "records/record_text.h"

/* Columns, from the left; the text of the last one follows. */
static const struct {
	const char *title;
	unsigned width;
} service_columns[] = {
    {"CONNS", 6},  {"FAILED", 6}, {"CONNECT", 7}, {"P95", 6},	 {"MAX", 6},	{"ANSWER", 6},
    {"P95", 6},	   {"MAX", 6},	  {"RESENT", 6},  {"BYTES", 6}, {"WAITED", 6},
};

#define COLUMNS (sizeof service_columns / sizeof service_columns[0])

/* The word for what was waited for, and the blank after it. */
#define WORD_WIDTH 7

const char *
service_protocol(const struct service *service)
{
	switch (service->protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	default:
		return "";
	}
}

/* Ends a cell that was written at `from`, after the blank between columns: numbers end at the right. */
static char *
service_put_cell(char *at, unsigned column, const char *from, size_t length)
{
	unsigned width = service_columns[column].width;

	if (column > 0)
		*at++ = ' ';
	for (size_t i = length; i < width; i++)
		*at++ = ' ';
	memcpy(at, from, length);
	return at + length;
}

char *
service_put_titles(char *at)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		at = service_put_cell(at, i, service_columns[i].title, strlen(service_columns[i].title));
	return PUT(at, " FOR     SERVICE\n");
}

/* A share in per cent, rounded down; one that is not 0 does not look like it. */
static char *
service_put_share(char *at, uint64_t part, uint64_t all)
{
	uint64_t thousandths = all != 0 ? (uint64_t)((double)part * 1000 / (double)all) : 0;

	if (part == 0)
		return PUT(at, "0%");
	if (thousandths == 0)
		return PUT(at, "<0.1%");
	at = put_u64(at, thousandths / 10);
	if (thousandths < 100) {
		*at++ = '.';
		at = put_u64(at, thousandths % 10);
	}
	*at++ = '%';
	return at;
}

static char *
service_put_column(const struct service *service, unsigned column, char *at)
{
	const struct service_times *times = column < 5 ? &service->connect : &service->answer;

	switch (column) {
	case 0:
		return put_amount(at, service->connections);
	case 1:
		return service_put_share(at, service_failed(service), service->connections);
	case 2:
	case 5:
		return put_duration(at, service_times_share(times, 50));
	case 3:
	case 6:
		return put_duration(at, service_times_share(times, 95));
	case 4:
	case 7:
		return put_duration(at, service_times_max(times));
	case 8:
		return service_put_share(at, service->resent, service->segments);
	case 9:
		return put_amount(at, service->bytes);
	default:
		return put_duration(at, (int64_t)service_waited_us(service));
	}
}

static char *
service_put_end(const struct service *service, char *at)
{
	const char *word = service_waited_for(service);

	*at++ = ' ';
	at = put_string(at, word);
	for (size_t i = strlen(word); i < WORD_WIDTH; i++)
		*at++ = ' ';
	*at++ = ' ';
	at = put_plain_text(at, service->address, sizeof service->address);
	if (service->protocol != 0) {
		at = PUT(at, " port ");
		at = put_u64(at, service->port);
		*at++ = '/';
		at = put_string(at, service_protocol(service));
	}
	if (service->name[0] != '\0') {
		*at++ = ' ';
		at = put_plain_text(at, service->name, sizeof service->name);
		if (service->named_more)
			at = PUT(at, ", ...");
	}
	*at++ = '\n';
	return at;
}

char *
service_put_line(const struct service *service, char *at)
{
	char cell[64];

	for (unsigned i = 0; i < COLUMNS; i++)
		at = service_put_cell(at, i, cell, (size_t)(service_put_column(service, i, cell) - cell));
	return service_put_end(service, at);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void
service_add_times(struct json *json, const char *name, const struct service_times *times)
{
	json_begin_object(json, name);
	json_add_signed(json, "p50", service_times_share(times, 50));
	json_add_signed(json, "p95", service_times_share(times, 95));
	json_add_signed(json, "max", service_times_max(times));
	json_end_object(json);
}

/* "no_answer" of "no-answer". */
static void
service_add_failure(struct json *json, enum service_failure failure, uint64_t count)
{
	char name[32], *at = name;

	snprintf(name, sizeof name, "%s", service_failure_reason(failure));
	while ((at = strchr(at, '-')) != NULL)
		*at = '_';
	json_add_unsigned(json, name, count);
}

void
service_add_members(struct json *json, const struct service *service)
{
	json_add_string(json, "address", service->address);
	json_add_unsigned(json, "port", service->port);
	json_add_unsigned(json, "protocol", service->protocol);
	if (service->name[0] != '\0')
		json_add_string(json, "name", service->name);
	if (service->named_more)
		json_add_bool(json, "named_more", true);
	json_add_unsigned(json, "connections", service->connections);
	json_add_unsigned(json, "open", service->open);
	json_add_unsigned(json, "opened", service->opened);
	json_add_unsigned(json, "failed", service_failed(service));
	for (unsigned i = 0; i < SERVICE_FAILURES; i++)
		service_add_failure(json, i, service->failed[i]);
	json_add_unsigned(json, "exchanges", service->exchanges);
	json_add_unsigned(json, "slow_answers", service->slow_answers);
	json_add_unsigned(json, "bytes", service->bytes);
	json_add_unsigned(json, "segments", service->segments);
	json_add_unsigned(json, "resent", service->resent);
	service_add_times(json, "connect_us", &service->connect);
	service_add_times(json, "answer_us", &service->answer);
	json_add_unsigned(json, "waited_us", service_waited_us(service));
	json_add_string(json, "waited", service_waited_for(service));
	json_begin_object(json, "waits_us");
	for (unsigned i = 0; i < CONNREC_WAITS; i++)
		json_add_unsigned(json, record_wait_name(i), service->waits[i]);
	json_end_object(json);
}
