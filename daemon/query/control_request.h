/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parser for requests on the control socket.  A request is one line: a command, options and an operand, such as
 *
 *   status
 *   connections --fields=client,server,rtt_us --limit=100 server_port == 443
 *   stream --fields=cs_cid,tcps_srtt_us tcp-connect-*
 *   write --format=snoop --last=10s 1 4,40 0 0 12,21 0 1 2048,6 0 0 262144,6 0 0 0
 *   connections --closed --last=10m --fields=client,reason
 *
 * Words are separated by blanks.
 */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_REQUEST_H
#define NETOBS_DAEMON_QUERY_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/format/capture_writer.h"

/* Most bytes of a request other than "write", whose filter may be longer. */
#define CONTROL_REQUEST_MAX 4096u

enum control_command {
	REQUEST_STATUS,
	REQUEST_CONNECTIONS,
	REQUEST_PROBES,
	REQUEST_INTERFACES,
	REQUEST_COUNTERS,
	REQUEST_RELOAD,
	REQUEST_DEBUG,
	REQUEST_FORMULAS,
	REQUEST_DEFINE,
	REQUEST_UNDEFINE,
	REQUEST_SITES,
	REQUEST_STREAM,
	REQUEST_WRITE,
	REQUEST_COMMANDS
};

struct control_request {
	enum control_command command;
	bool text; /* REQUEST_STREAM: lines have the text of firings */
	uint64_t cid;	/* REQUEST_CONNECTIONS and REQUEST_WRITE: only this connection; 0: all */
	bool set_debug; /* REQUEST_DEBUG: replace the set of topics, otherwise only show it */
	uint32_t debug_topics;
	/* REQUEST_CONNECTIONS: */
	bool closed;	/* those that have ended, of the ring */
	bool open;	/* only those that have not ended; no request sets it, the page does */
	bool no_wait;	/* reply without waiting for owners that are not known yet */
	uint64_t limit; /* only so many; 0: all */
	/* In the line that was parsed, NULL if there is none: the definition of REQUEST_DEFINE; the name of a formula;
	 * the names of probes and formulas of REQUEST_STREAM, separated by commas; the filter of REQUEST_WRITE
	 * (frame_programs.h); the expression of REQUEST_CONNECTIONS. */
	const char *operand;
	/* In the line that was parsed: comma-separated fields, NULL for all. */
	const char *fields;
	/* REQUEST_WRITE and REQUEST_CONNECTIONS: only frames, or ends of connections, of this latest time; 0: all. */
	uint64_t last_ns;
	/* REQUEST_WRITE: */
	enum capture_format format;
	bool link_types; /* not a capture but the link types of which it can have frames, as JSON */
};

const char *control_request_name(enum control_command command);

/* What a request does that only root and the user that netobsd runs as may do, such as "define formulas"; NULL if every
 * client may send it.  Call it while the line that was parsed is in memory. */
const char *control_request_privilege(const struct control_request *request);

/* Parses a line in place, modifying it.  False, with `error`, if it is invalid. */
bool control_request_parse(char *line, struct control_request *request, char *error, size_t size);

#endif
