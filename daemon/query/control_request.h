/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parser for requests on the control socket.  A request is one line: a command, options and an operand, such as
 *
 *   status
 *   connections --json state=established port 80
 *   stream --fields=cs_cid,tcps_srtt_us tcp-connect-*
 *   write --format=snoop --last=10s 1 4,40 0 0 12,21 0 1 2048,6 0 0 262144,6 0 0 0
 *   closed --json --last=10m --fields=client,reason server_port == 443
 *
 * Words are separated by blanks.
 */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_REQUEST_H
#define NETOBS_DAEMON_QUERY_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/query/connection_fields.h"
#include "flight/format/capture_writer.h"

/* Most bytes of a request other than "write", whose filter may be longer. */
#define CONTROL_REQUEST_MAX 4096u

enum control_command {
	REQUEST_STATUS,
	REQUEST_CONNECTIONS,
	REQUEST_CONNECTION,
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
	REQUEST_CLOSED,
	REQUEST_COMMANDS
};

/* Ends of each connection in a reply whose owners are looked up. */
enum owners_wanted {
	OWNERS_NONE,
	OWNERS_LOCAL, /* of the end that is reported as local */
	OWNERS_BOTH,
};

/* Filter for connections: every field that is set must match. */
struct control_filter {
	bool has_port, has_host, has_protocol;
	uint16_t port;	  /* port of either end */
	uint8_t version;  /* IP version of `host` */
	uint8_t host[16]; /* address of either end, network order, IPv4 in the first four bytes */
	uint8_t protocol; /* 6, 17 or 132 */
	char state[24];	  /* of either end, "established"; "" for any */
	uint64_t cid;	  /* of either end; 0 for any */
	bool open;	  /* only connections that have not ended; no request sets it, the page does */
};

struct control_request {
	enum control_command command;
	bool json;	/* connections */
	bool text;	/* REQUEST_STREAM: lines have the text of firings */
	uint64_t cid;	/* REQUEST_CONNECTION; REQUEST_WRITE: 0 for all connections */
	bool set_debug; /* REQUEST_DEBUG: replace the set of topics, otherwise only show it */
	uint32_t debug_topics;
	struct control_filter filter;
	/* REQUEST_CONNECTIONS: */
	struct connection_fields connection_fields;
	enum owners_wanted owners;
	bool no_wait; /* reply without waiting for owners that are not known yet */
	/* In the line that was parsed, NULL if there is none: the definition of REQUEST_DEFINE; the name of a formula;
	 * the names of probes and formulas of REQUEST_STREAM, separated by commas; the filter of REQUEST_WRITE
	 * (frame_programs.h). */
	const char *operand;
	/* In the line that was parsed: comma-separated fields, NULL for all. */
	const char *fields;
	/* REQUEST_CLOSED, in the line that was parsed: "FIELD" or "-FIELD"; NULL: in the order of the ring. */
	const char *sort;
	uint64_t limit; /* REQUEST_CLOSED: only so many, the first ones; 0: all */
	bool notes;	/* REQUEST_CLOSED: what is missing, as the last lines of JSON */
	/* REQUEST_WRITE and REQUEST_CLOSED: only frames, or ends of connections, of this latest time; 0: all. */
	uint64_t last_ns;
	/* REQUEST_WRITE: */
	enum capture_format format;
	bool link_types; /* not a capture but the link types of which it can have frames, as JSON */
	/* REQUEST_CONNECTIONS and REQUEST_CLOSED, in the line that was parsed: selects connections; NULL: all. */
	const char *expression;
};

const char *control_request_name(enum control_command command);

/* What a request does that only root and the user that netobsd runs as may do, such as "define formulas"; NULL if every
 * client may send it.  Call it while the line that was parsed is in memory. */
const char *control_request_privilege(const struct control_request *request);

/* Parses a line in place, modifying it.  False, with `error`, if it is invalid. */
bool control_request_parse(char *line, struct control_request *request, char *error, size_t size);

#endif
