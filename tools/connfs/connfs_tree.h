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

#include "tools/connections/connection_list.h"

/* The fields that are requested, in this order. */
#define CONNFS_FIELDS \
	"cid,proto,state,peerstate,laddr,lport,raddr,rport,inbytes,outbytes,insegs,outsegs,retranssegs,rtt,rto,mss," \
	"pid,comm,uid,tcps_start"

enum connfs_field {
	CONNFS_CID,
	CONNFS_PROTO,
	CONNFS_STATE,
	CONNFS_PEERSTATE,
	CONNFS_LADDR,
	CONNFS_LPORT,
	CONNFS_RADDR,
	CONNFS_RPORT,
	CONNFS_INBYTES,
	CONNFS_OUTBYTES,
	CONNFS_INSEGS,
	CONNFS_OUTSEGS,
	CONNFS_RETRANSSEGS,
	CONNFS_RTT,
	CONNFS_RTO,
	CONNFS_MSS,
	CONNFS_PID,
	CONNFS_COMM,
	CONNFS_UID,
	CONNFS_START,
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

/* The values of a connection in a group: its states, its ports, ... of both ends; at most two.  Returns how many.  A
 * value that is not the name of a file is left out: "", "..", "a/b", or a long one. */
unsigned connfs_group_values(enum connfs_group group, const char *const *values, const char *found[2]);

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
size_t connfs_file_text(unsigned file, const char *const *values, char text[CONNFS_TEXT_MAX]);

#endif
