/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_closed.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/connections/connection_list.h"
#include "tools/control_client.h"

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

/* Reads `before` and the number behind it, and moves `*text` behind both; false if another text is there. */
static bool
connfs_closed_parse_number(const char **text, const char *before, uint64_t *number)
{
	size_t length = strlen(before);
	char *end;

	if (strncmp(*text, before, length) != 0 || !isdigit((unsigned char)(*text)[length]))
		return false;
	*number = strtoull(*text + length, &end, 10);
	*text = end;
	return true;
}

/* Adds both ends of each line; false if a line is another one, or memory is short.  sscanf(3) would measure the whole
 * rest of the text for each line. */
static bool
connfs_closed_parse(struct connfs_closed_list *list, const char *text)
{
	static const char end_of_line[] = "}\n";
	uint64_t client, server, end;
	size_t lines = 0;

	for (const char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	list->ends = calloc(2 * lines + 1, sizeof *list->ends);
	if (list->ends == NULL)
		return false;
	for (; *text != '\0'; text += strlen(end_of_line)) {
		if (!connfs_closed_parse_number(&text, "{\"cr_client_cid\":", &client) ||
		    !connfs_closed_parse_number(&text, ",\"cr_server_cid\":", &server) ||
		    !connfs_closed_parse_number(&text, ",\"cr_end\":", &end) ||
		    strncmp(text, end_of_line, strlen(end_of_line)) != 0)
			return false;
		list->ends[list->count++] = (struct connfs_closed_end){.cid = client, .time_ns = end, .client = true};
		list->ends[list->count++] = (struct connfs_closed_end){.cid = server, .time_ns = end};
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
	text = connfs_closed_request(socket, "closed --json --fields=client_cid,server_cid,end\n");
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
	char request[128];

	snprintf(request, sizeof request, "closed --json client_cid == %llu || server_cid == %llu\n",
		 (unsigned long long)cid, (unsigned long long)cid);
	return connfs_closed_request(socket, request);
}
