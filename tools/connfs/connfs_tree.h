/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of netobs-connfs:
 *
 *   CID/state, CID/local, ...       a directory of files for each connection
 *   by-port/443/CID -> ../../CID    links to connections by a value of theirs: by-pid, by-port, by-state, by-host
 *   closed/CID.json                 records of connections that have ended
 *
 * An inode number identifies a node.  Values like 443 are numbered when a list has them, and no number is used again.
 */
#ifndef NETOBS_TOOLS_CONNFS_CONNFS_TREE_H
#define NETOBS_TOOLS_CONNFS_CONNFS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tools/connections/connection_list.h"

/* The fields that are requested, in this order: those of the file status, and what other files need besides. */
#define CONNFS_FIELDS \
	"cid,protostr,local,client,client_port,server,server_port,client_state,server_state,start,client_bytes," \
	"server_bytes,client_segments,server_segments,client_resent,server_resent,rtt_us,client_rto,server_rto,mss," \
	"pid,comm,client_uid,server_uid,client_pid"

enum connfs_field {
	CONNFS_CID,
	CONNFS_PROTO,
	CONNFS_LOCAL,
	CONNFS_CLIENT,
	CONNFS_CLIENT_PORT,
	CONNFS_SERVER,
	CONNFS_SERVER_PORT,
	CONNFS_CLIENT_STATE,
	CONNFS_SERVER_STATE,
	CONNFS_START,
	CONNFS_CLIENT_BYTES,
	CONNFS_SERVER_BYTES,
	CONNFS_RTT = CONNFS_SERVER_BYTES + 5,
	CONNFS_PID = CONNFS_RTT + 4,
	CONNFS_COMM,
	CONNFS_CLIENT_UID,
	CONNFS_SERVER_UID,
	CONNFS_CLIENT_PID,
	CONNFS_FIELD_COUNT,
};

/* Directories of links to connections. */
enum connfs_group { CONNFS_BY_PID, CONNFS_BY_PORT, CONNFS_BY_STATE, CONNFS_BY_HOST, CONNFS_GROUPS };

enum connfs_kind {
	CONNFS_ROOT,
	CONNFS_GROUP,	   /* by-port */
	CONNFS_VALUE,	   /* by-port/443 */
	CONNFS_LINK,	   /* by-port/443/CID */
	CONNFS_CONNECTION, /* CID */
	CONNFS_FILE,	   /* CID/state */
	CONNFS_CLOSED,	   /* closed */
	CONNFS_RECORD,	   /* closed/CID.json */
	CONNFS_KINDS
};

/* The file type of a node: S_IFREG, S_IFDIR or S_IFLNK. */
mode_t connfs_type(enum connfs_kind kind);

/* The highest connection id of a node. */
#define CONNFS_CID_MAX ((UINT64_C(1) << 54) - 1)

struct connfs_node {
	enum connfs_kind kind;
	unsigned number; /* group, or file */
	uint64_t cid;	 /* CONNFS_LINK, CONNFS_CONNECTION, CONNFS_FILE, CONNFS_RECORD */
	uint32_t value;	 /* CONNFS_VALUE: its number */
};

uint64_t connfs_inode(const struct connfs_node *node);

/* The node of an inode number; false if there is no such node, or it names a group or a file that does not exist. */
bool connfs_node(uint64_t inode, struct connfs_node *node);

const char *connfs_group_name(enum connfs_group group);

/* Bytes of a value with its NUL: more than an address, a port or a state has. */
#define CONNFS_VALUE_SIZE 64u

/* The values of a connection in a group: its states, its ports, ... of both ends; at most two.  Returns how many.  A
 * value that is not the name of a file is left out: "", ".." or "a/b". */
unsigned connfs_group_values(enum connfs_group group, const union connection_value *values,
			     char found[2][CONNFS_VALUE_SIZE]);

/* Drops all values if there are many; called before those of a list are noted. */
void connfs_values_trim(void);

/* Notes that a connection had a value at the time `seen`.  True if it is the first one then; false also if there are
 * too many values, or memory is short. */
bool connfs_value_mark(enum connfs_group group, const char *text, uint64_t seen);

/* The number of a value; false if no connection had it at the time `seen`. */
bool connfs_value_number(enum connfs_group group, const char *text, uint64_t seen, uint32_t *number);

/* A value and its group; NULL if the number is unknown. */
const char *connfs_value_text(uint32_t number, enum connfs_group *group);

#define CONNFS_FILES 9u

/* The numbers of the files that are made of the connection's packets; the others are texts. */
#define CONNFS_HISTORY 7u
#define CONNFS_CAPTURE 8u

#define CONNFS_TEXT_MAX 2048u

const char *connfs_file_name(unsigned file);

/* Whether a text shows the process. */
bool connfs_file_has_owner(unsigned file);

/* Writes the text of a file; returns its length.  `values` are those of CONNFS_FIELDS. */
size_t connfs_file_text(unsigned file, const union connection_value *values, char text[CONNFS_TEXT_MAX]);

#endif
