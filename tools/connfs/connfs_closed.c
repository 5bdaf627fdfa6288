/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_closed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tools/connections/connection_list.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

/* Longest wait for each part of a reply, seconds. */
#define CLOSED_TIMEOUT_S 10

/* The text of a reply; NULL on failure.  The caller frees it. */
static char *
connfs_closed_request(const char *socket, const char *request)
{
	char error[4096], *text;
	int fd = client_open_reply(socket, request, CLOSED_TIMEOUT_S, error, sizeof error);

	if (fd < 0)
		return NULL;
	text = client_read_lines(fd, 0, 2 * sizeof(struct connfs_closed_end));
	close(fd);
	return text;
}

static int
connfs_closed_compare(const void *left, const void *right)
{
	const struct connfs_closed_end *a = left, *b = right;

	return (a->cid > b->cid) - (a->cid < b->cid);
}

/* Adds both ends of a line, unless it is a note. */
static bool
connfs_closed_add(struct connfs_closed_list *list, const char *line, size_t length)
{
	json_t *object = json_read_object(line, length);
	bool note = json_read_string(object, "note") != NULL;
	struct connfs_closed_end client = {.client = true}, server = {.client = false};
	bool complete = json_read_unsigned(object, "cr_client_cid", &client.cid) &&
			json_read_unsigned(object, "cr_server_cid", &server.cid) &&
			json_read_unsigned(object, "cr_end", &client.time_ns);

	json_decref(object);
	if (note || !complete)
		return note;
	server.time_ns = client.time_ns;
	list->ends[list->count++] = client;
	list->ends[list->count++] = server;
	return true;
}

/* Adds both ends of each line; false if a line is another one, or memory is short. */
static bool
connfs_closed_parse(struct connfs_closed_list *list, const char *text)
{
	size_t lines = 0;

	for (const char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	list->ends = calloc(2 * lines + 1, sizeof *list->ends);
	if (list->ends == NULL)
		return false;
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		if (text[length] == '\0' || !connfs_closed_add(list, text, length))
			return false;
		text += length + 1;
	}
	qsort(list->ends, list->count, sizeof *list->ends, connfs_closed_compare);
	return true;
}

bool
connfs_closed_is_fresh(const struct connfs_closed_list *list, uint64_t most_age_ns)
{
	return list->time_ns != 0 && connection_list_now() - list->time_ns <= most_age_ns;
}

bool
connfs_closed_refresh(struct connfs_closed_list *list, const char *socket, uint64_t most_age_ns)
{
	uint64_t now = connection_list_now();
	char *text;
	bool parsed;

	if (connfs_closed_is_fresh(list, most_age_ns))
		return true;
	free(list->ends);
	*list = (struct connfs_closed_list){.count = 0};
	text = connfs_closed_request(socket, "connections --closed --fields=client_cid,server_cid,end\n");
	parsed = text != NULL && connfs_closed_parse(list, text);
	free(text);
	if (parsed)
		list->time_ns = now;
	else
		list->count = 0;
	return parsed;
}

const struct connfs_closed_end *
connfs_closed_find(const struct connfs_closed_list *list, uint64_t cid)
{
	const struct connfs_closed_end key = {.cid = cid};

	return list->count > 0 ? bsearch(&key, list->ends, list->count, sizeof key, connfs_closed_compare) : NULL;
}

char *
connfs_closed_record(const char *socket, uint64_t cid)
{
	char request[64], *text, *clean = NULL;

	snprintf(request, sizeof request, "connections --closed --cid=%llu\n", (unsigned long long)cid);
	text = connfs_closed_request(socket, request);
	if (text != NULL)
		clean = malloc(strlen(text) * JSON_BYTE_MAX + 8);
	if (clean != NULL)
		*put_foreign_lines(clean, text, strlen(text)) = '\0';
	free(text);
	return clean;
}
