/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_tree.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

/* Most values of one list, and the number of values above which those of earlier lists are dropped. */
#define VALUES_MAX  1000000u
#define VALUES_KEPT 250000u

/* Bits of an inode number: kind, group or file, and connection id or number of a value. */
#define KIND_SHIFT   60
#define NUMBER_SHIFT 54
#define NUMBER_MASK  63u
#define ID_MASK	     CONNFS_CID_MAX

static const char *const group_names[CONNFS_GROUPS] = {
    [CONNFS_BY_PID] = "by-pid",
    [CONNFS_BY_PORT] = "by-port",
    [CONNFS_BY_STATE] = "by-state",
    [CONNFS_BY_HOST] = "by-host",
};

struct connfs_value {
	char *text;
	enum connfs_group group;
	uint32_t number;
	uint64_t seen; /* when a connection had it: connfs_value_mark() */
};

static struct connfs_value **tree_values; /* by number, from `tree_first` on */
static void *tree_by_text;		  /* of tsearch(3) */
static uint32_t tree_first, tree_value_count, tree_value_room;

mode_t
connfs_type(enum connfs_kind kind)
{
	if (kind == CONNFS_FILE || kind == CONNFS_RECORD)
		return S_IFREG;
	return kind == CONNFS_LINK ? S_IFLNK : S_IFDIR;
}

uint64_t
connfs_inode(const struct connfs_node *node)
{
	uint64_t id = node->kind == CONNFS_VALUE ? node->value : node->cid & ID_MASK;

	if (node->kind == CONNFS_ROOT)
		return 1;
	return (uint64_t)node->kind << KIND_SHIFT | (uint64_t)node->number << NUMBER_SHIFT | id;
}

bool
connfs_node(uint64_t inode, struct connfs_node *node)
{
	uint64_t kind = inode >> KIND_SHIFT;

	*node = (struct connfs_node){.kind = CONNFS_ROOT};
	if (inode == 1)
		return true;
	if (kind == CONNFS_ROOT || kind >= CONNFS_KINDS)
		return false;
	node->kind = (enum connfs_kind)kind;
	node->number = (unsigned)(inode >> NUMBER_SHIFT) & NUMBER_MASK;
	if (node->number >= (node->kind == CONNFS_GROUP ? CONNFS_GROUPS : node->kind == CONNFS_FILE ? CONNFS_FILES : 1))
		return false;
	if (node->kind == CONNFS_VALUE)
		node->value = (uint32_t)(inode & ID_MASK);
	else
		node->cid = inode & ID_MASK;
	return true;
}

const char *
connfs_group_name(enum connfs_group group)
{
	return group_names[group];
}

static bool
connfs_value_is_name(const char *value)
{
	return *value != '\0' && strchr(value, '/') == NULL && strcmp(value, ".") != 0 && strcmp(value, "..") != 0;
}

unsigned
connfs_group_values(enum connfs_group group, const union connection_value *values, char found[2][CONNFS_VALUE_SIZE])
{
	static const enum connfs_field fields[CONNFS_GROUPS][2] = {
	    [CONNFS_BY_PID] = {CONNFS_PID, CONNFS_PID},
	    [CONNFS_BY_PORT] = {CONNFS_CLIENT_PORT, CONNFS_SERVER_PORT},
	    [CONNFS_BY_STATE] = {CONNFS_CLIENT_STATE, CONNFS_SERVER_STATE},
	    [CONNFS_BY_HOST] = {CONNFS_CLIENT, CONNFS_SERVER},
	};
	unsigned count = 0;

	for (unsigned i = 0; i < 2; i++) {
		const union connection_value *value = &values[fields[group][i]];

		if (group == CONNFS_BY_STATE || group == CONNFS_BY_HOST)
			snprintf(found[count], CONNFS_VALUE_SIZE, "%s", value->text);
		else if ((int64_t)value->number >= 0)
			snprintf(found[count], CONNFS_VALUE_SIZE, "%llu", (unsigned long long)value->number);
		else
			continue;
		if (connfs_value_is_name(found[count]) && (count == 0 || strcmp(found[0], found[1]) != 0))
			count++;
	}
	return count;
}

static int
connfs_value_compare(const void *left, const void *right)
{
	const struct connfs_value *a = left, *b = right;

	return a->group != b->group ? (int)a->group - (int)b->group : strcmp(a->text, b->text);
}

static bool
connfs_values_grow(void)
{
	uint32_t room = tree_value_room < VALUES_MAX / 2 ? tree_value_room * 2 + 64 : VALUES_MAX;
	struct connfs_value **larger;

	if (tree_value_room == VALUES_MAX)
		return false;
	larger = realloc(tree_values, room * sizeof(void *));
	if (larger == NULL)
		return false;
	tree_values = larger;
	tree_value_room = room;
	return true;
}

/* Stores a value; NULL if there are too many, or memory is short. */
static struct connfs_value *
connfs_value_add(enum connfs_group group, const char *text)
{
	struct connfs_value *value;

	if (tree_value_count == tree_value_room && !connfs_values_grow())
		return NULL;
	value = malloc(sizeof *value);
	if (value == NULL)
		return NULL;
	*value = (struct connfs_value){.text = strdup(text), .group = group, .number = tree_first + tree_value_count};
	if (value->text == NULL || tsearch(value, &tree_by_text, connfs_value_compare) == NULL) {
		free(value->text);
		free(value);
		return NULL;
	}
	tree_values[tree_value_count++] = value;
	return value;
}

static void
connfs_value_free(void *node)
{
	struct connfs_value *value = node;

	free(value->text);
	free(value);
}

void
connfs_values_trim(void)
{
	if (tree_value_count <= VALUES_KEPT)
		return;
	tdestroy(tree_by_text, connfs_value_free);
	tree_by_text = NULL;
	tree_first += tree_value_count;
	tree_value_count = 0;
}

static struct connfs_value *
connfs_value_find(enum connfs_group group, const char *text)
{
	const struct connfs_value key = {.text = (char *)(uintptr_t)text, .group = group};
	struct connfs_value *const *node = tfind(&key, &tree_by_text, connfs_value_compare);

	return node != NULL ? *node : NULL;
}

bool
connfs_value_mark(enum connfs_group group, const char *text, uint64_t seen)
{
	struct connfs_value *value = connfs_value_find(group, text);
	bool first;

	if (value == NULL)
		value = connfs_value_add(group, text);
	if (value == NULL)
		return false;
	first = value->seen != seen;
	value->seen = seen;
	return first;
}

bool
connfs_value_number(enum connfs_group group, const char *text, uint64_t seen, uint32_t *number)
{
	const struct connfs_value *value = connfs_value_find(group, text);

	*number = value != NULL ? value->number : 0;
	return value != NULL && value->seen == seen;
}

const char *
connfs_value_text(uint32_t number, enum connfs_group *group)
{
	if (number < tree_first || number - tree_first >= tree_value_count)
		return NULL;
	*group = tree_values[number - tree_first]->group;
	return tree_values[number - tree_first]->text;
}

/* ----------------------------------------------------------------------------------------------- the bytes of files */

/* A text, "-" if there is none. */
static const char *
connfs_known(const union connection_value *value)
{
	return value->text[0] != '\0' ? value->text : "-";
}

static void
connfs_print_client(const union connection_value *values, struct text_buffer *text)
{
	const char *address = values[CONNFS_CLIENT].text;

	text_add_format(text, strchr(address, ':') != NULL ? "[%s]:%u\n" : "%s:%u\n", address,
			(unsigned)values[CONNFS_CLIENT_PORT].number);
}

static void
connfs_print_server(const union connection_value *values, struct text_buffer *text)
{
	connfs_print_client(values + (CONNFS_SERVER - CONNFS_CLIENT), text);
}

static void
connfs_print_state(const union connection_value *values, struct text_buffer *text)
{
	text_add_format(text, "%s %s\n", connfs_known(&values[CONNFS_CLIENT_STATE]),
			connfs_known(&values[CONNFS_SERVER_STATE]));
}

/* A number that is not 0 or negative; "-" is one that is unknown. */
static void
connfs_print_number(struct text_buffer *text, const char *before, uint64_t number, bool known)
{
	text_add_format(text, "%s", before);
	if (known)
		text_add_format(text, "%llu\n", (unsigned long long)number);
	else
		text_add_format(text, "-\n");
}

static void
connfs_print_rtt(const union connection_value *values, struct text_buffer *text)
{
	connfs_print_number(text, "", values[CONNFS_RTT].number, values[CONNFS_RTT].number != 0);
}

static void
connfs_print_bytes(const union connection_value *values, struct text_buffer *text)
{
	text_add_format(text, "client %llu\nserver %llu\n", (unsigned long long)values[CONNFS_CLIENT_BYTES].number,
			(unsigned long long)values[CONNFS_SERVER_BYTES].number);
}

static void
connfs_print_owner(const union connection_value *values, struct text_buffer *text)
{
	int64_t pid = (int64_t)values[CONNFS_PID].number;
	bool client = pid >= 0 ? (int64_t)values[CONNFS_CLIENT_PID].number == pid :
				 (int64_t)values[CONNFS_CLIENT_UID].number >= 0; /* the user may be known alone */
	int64_t uid = (int64_t)values[client ? CONNFS_CLIENT_UID : CONNFS_SERVER_UID].number;

	connfs_print_number(text, "pid ", (uint64_t)pid, pid >= 0);
	text_add_format(text, "comm ");
	text_add_escaped(text, connfs_known(&values[CONNFS_COMM]));
	connfs_print_number(text, "\nuid ", (uint64_t)uid, uid >= 0);
}

/* A line for each field: its name and its value. */
static void
connfs_print_status(const union connection_value *values, struct text_buffer *text)
{
	static const unsigned texts = 1u << CONNFS_PROTO | 1u << CONNFS_LOCAL | 1u << CONNFS_CLIENT |
				      1u << CONNFS_SERVER |
				      1u << CONNFS_CLIENT_STATE | 1u << CONNFS_SERVER_STATE;
	const char *name = CONNFS_FIELDS;
	char started[32] = "-";
	struct tm utc;

	for (unsigned i = 0; i < CONNFS_PID; i++, name += strcspn(name, ",") + 1) {
		time_t start = (time_t)(values[i].number / 1000000000);

		text_add_format(text, "%.*s ", (int)strcspn(name, ","), name);
		if (i == CONNFS_START && gmtime_r(&start, &utc) != NULL)
			strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
		if (i == CONNFS_START)
			text_add_format(text, "%s\n", started);
		else if ((texts >> i & 1) != 0)
			text_add_format(text, "%s\n", connfs_known(&values[i]));
		else
			connfs_print_number(text, "", values[i].number, i != CONNFS_RTT || values[i].number != 0);
	}
	connfs_print_owner(values, text);
}

static const struct {
	const char *name;
	void (*print)(const union connection_value *values, struct text_buffer *text); /* NULL: no text */
} connfs_files[CONNFS_FILES] = {
    {"status", connfs_print_status}, {"client", connfs_print_client},
    {"server", connfs_print_server}, {"state", connfs_print_state},
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
connfs_file_text(unsigned file, const union connection_value *values, char text[CONNFS_TEXT_MAX])
{
	struct text_buffer buffer = {.bytes = text, .size = CONNFS_TEXT_MAX};

	if (connfs_files[file].print != NULL)
		connfs_files[file].print(values, &buffer);
	return buffer.used;
}
