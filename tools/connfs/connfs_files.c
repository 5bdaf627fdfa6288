/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/connfs/connfs_tree.h"

static size_t
connfs_print_end(const char *address, const char *port, char text[CONNFS_TEXT_MAX])
{
	return (size_t)snprintf(text, CONNFS_TEXT_MAX, strchr(address, ':') != NULL ? "[%s]:%s\n" : "%s:%s\n", address,
				port);
}

static size_t
connfs_print_local(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	return connfs_print_end(values[CONNFS_LADDR], values[CONNFS_LPORT], text);
}

static size_t
connfs_print_remote(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	return connfs_print_end(values[CONNFS_RADDR], values[CONNFS_RPORT], text);
}

static size_t
connfs_print_state(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	return (size_t)snprintf(text, CONNFS_TEXT_MAX, "%s %s\n", values[CONNFS_STATE], values[CONNFS_PEERSTATE]);
}

static size_t
connfs_print_rtt(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	return (size_t)snprintf(text, CONNFS_TEXT_MAX, "%s\n", values[CONNFS_RTT]);
}

static size_t
connfs_print_bytes(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	return (size_t)snprintf(text, CONNFS_TEXT_MAX, "in %s\nout %s\n", values[CONNFS_INBYTES],
				values[CONNFS_OUTBYTES]);
}

static size_t
connfs_print_owner(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	return (size_t)snprintf(text, CONNFS_TEXT_MAX, "pid %s\ncomm %s\nuid %s\n", values[CONNFS_PID],
				values[CONNFS_COMM], values[CONNFS_UID]);
}

static size_t
connfs_print_status(const char *const *values, char text[CONNFS_TEXT_MAX])
{
	time_t start = (time_t)(strtoull(values[CONNFS_START], NULL, 10) / 1000000000);
	char started[32] = "-";
	struct tm utc;

	if (gmtime_r(&start, &utc) != NULL)
		strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return (size_t)snprintf(text, CONNFS_TEXT_MAX,
				"cid %s\nproto %s\nstate %s\npeerstate %s\nladdr %s\nlport %s\nraddr %s\nrport %s\n"
				"start %s\ninbytes %s\noutbytes %s\ninsegs %s\noutsegs %s\nretranssegs %s\nrtt %s\n"
				"rto %s\nmss %s\npid %s\ncomm %s\nuid %s\n",
				values[CONNFS_CID], values[CONNFS_PROTO], values[CONNFS_STATE],
				values[CONNFS_PEERSTATE], values[CONNFS_LADDR], values[CONNFS_LPORT],
				values[CONNFS_RADDR], values[CONNFS_RPORT], started, values[CONNFS_INBYTES],
				values[CONNFS_OUTBYTES], values[CONNFS_INSEGS], values[CONNFS_OUTSEGS],
				values[CONNFS_RETRANSSEGS], values[CONNFS_RTT], values[CONNFS_RTO], values[CONNFS_MSS],
				values[CONNFS_PID], values[CONNFS_COMM], values[CONNFS_UID]);
}

static const struct {
	const char *name;
	size_t (*print)(const char *const *values, char text[CONNFS_TEXT_MAX]); /* NULL: no text */
} connfs_files[CONNFS_FILES] = {
    {"status", connfs_print_status}, {"local", connfs_print_local},
    {"remote", connfs_print_remote}, {"state", connfs_print_state},
    {"rtt", connfs_print_rtt},	     {"bytes", connfs_print_bytes},
    {"owner", connfs_print_owner},   {"history", NULL},
    {"capture.pcapng", NULL},
};

const char *
connfs_file_name(unsigned file)
{
	return connfs_files[file].name;
}

bool
connfs_file_has_owner(unsigned file)
{
	return connfs_files[file].print == connfs_print_owner || connfs_files[file].print == connfs_print_status;
}

size_t
connfs_file_text(unsigned file, const char *const *values, char text[CONNFS_TEXT_MAX])
{
	size_t length = connfs_files[file].print != NULL ? connfs_files[file].print(values, text) : 0;

	return length < CONNFS_TEXT_MAX ? length : CONNFS_TEXT_MAX - 1;
}
