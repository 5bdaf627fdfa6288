/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/reply_text.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

/* What is printed of one object, and the first member that it lacks. */
struct reply_object {
	const json_t *members;
	const char *missing; /* NULL: none */
};

/* ---------------------------------------------------------------------------------------------------------- members */

static uint64_t
reply_number(struct reply_object *object, const char *name)
{
	uint64_t number = 0;

	if (!json_read_unsigned(object->members, name, &number))
		object->missing = name;
	return number;
}

static bool
reply_bool(struct reply_object *object, const char *name)
{
	bool value;

	if (!json_read_bool(object->members, name, &value))
		object->missing = name;
	return value;
}

/* A string, or NULL for null. */
static const char *
reply_name(struct reply_object *object, const char *name)
{
	const json_t *member = json_object_get(object->members, name);

	if (!json_is_string(member) && !json_is_null(member))
		object->missing = name;
	return json_string_value(member);
}

static const char *
reply_string(struct reply_object *object, const char *name)
{
	const char *string = reply_name(object, name);

	if (string == NULL)
		object->missing = name;
	return string != NULL ? string : "";
}

/* Prints a string for a terminal; returns its width. */
static int
reply_put_string(const char *string)
{
	char piece[64 * FORMAT_PLAIN_BYTE_MAX + 8];
	int width = 0;

	while (*string != '\0') {
		size_t length = strnlen(string, 64);

		width += printf("%.*s", (int)(put_plain_text(piece, string, length) - piece), piece);
		string += length;
	}
	return width;
}

/* ----------------------------------------------------------------------------------------------------------- tables */

/* Gives the text of a cell, in `bytes` or where it is. */
#define CELL_SIZE 64

typedef const char *reply_cell(struct reply_object *object, const char *name, char bytes[CELL_SIZE]);

static const char *
cell_number(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	snprintf(bytes, CELL_SIZE, "%" PRIu64, reply_number(object, name));
	return bytes;
}

static const char *
cell_string(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	(void)bytes;
	return reply_string(object, name);
}

static const char *
cell_name(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	const char *string = reply_name(object, name);

	(void)bytes;
	return string != NULL ? string : "-";
}

static const char *
cell_on(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	(void)bytes;
	return reply_bool(object, name) ? "on" : "off";
}

static const char *
cell_yes(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	(void)bytes;
	return reply_bool(object, name) ? "yes" : "no";
}

static bool
site_has_default_name(struct reply_object *object)
{
	char own[CELL_SIZE];

	snprintf(own, sizeof own, "formula-%02" PRIu64, reply_number(object, "slot"));
	return strcmp(reply_string(object, "name"), own) == 0;
}

/* The name of a site that is not the default. */
static const char *
cell_site_name(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	(void)bytes;
	return site_has_default_name(object) ? "-" : reply_string(object, name);
}

static const char *
cell_origin(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	(void)bytes;
	return strcmp(reply_string(object, name), "configuration") == 0 ? "config" : "request";
}

/* What receives the firings: "traced, printed", or "no", after a blank. */
static const char *
cell_enablers(struct reply_object *object, const char *name, char bytes[CELL_SIZE])
{
	static const char *const enablers[] = {"traced", "printed", "streamed", "written"};
	int used = snprintf(bytes, CELL_SIZE, " ");

	(void)name;
	for (size_t i = 0; i < sizeof enablers / sizeof enablers[0]; i++)
		if (reply_bool(object, enablers[i]))
			used += snprintf(bytes + used, CELL_SIZE - (size_t)used, "%s%s", used > 1 ? ", " : "",
					 enablers[i]);
	return used > 1 ? bytes : " no";
}

static bool
probe_is_shown(struct reply_object *object)
{
	return reply_number(object, "enabled") > 0 || reply_number(object, "fired") > 0;
}

static bool
site_is_shown(struct reply_object *object)
{
	return reply_name(object, "formula") != NULL || reply_bool(object, "traced") ||
	       !site_has_default_name(object);
}

#define COLUMNS_MAX 8

/* `width` is negative for text, which is on the left; 0 for the last column. */
struct reply_column {
	const char *title;
	int width;
	reply_cell *cell;
	const char *name;
};

static const struct reply_table {
	const char *command;
	struct reply_column columns[COLUMNS_MAX + 1];
	bool (*is_shown)(struct reply_object *object); /* NULL: all objects are */
} reply_tables[] = {
    {"probes",
     {{"PROBE", -26, cell_string, "probe"},
      {"ENABLED", 8, cell_number, "enabled"},
      {"FIRED", 20, cell_number, "fired"}},
     probe_is_shown},
    {"interfaces",
     {{"INTERFACE", -16, cell_string, "interface"},
      {"INDEX", 6, cell_number, "ifindex"},
      {"STATE", -8, cell_string, "state"},
      {"LINK", -14, cell_string, "link_type"},
      {"RECEIVED", 14, cell_number, "received"},
      {"DROPPED", 10, cell_number, "dropped"},
      {"IF-DROPPED", 10, cell_number, "interface_dropped"},
      {"REMOVED", 6, cell_number, "lost"}},
     NULL},
    {"debug",
     {{"TOPIC", -10, cell_string, "topic"}, {"STATE", -5, cell_on, "on"}, {"MESSAGES", 0, cell_string, "messages"}},
     NULL},
    {"sites",
     {{"SLOT", -4, cell_number, "slot"},
      {"FORMULA", -40, cell_name, "formula"},
      {"NAME", -40, cell_site_name, "name"},
      {"TRACED", 0, cell_yes, "traced"}},
     site_is_shown},
    {"formulas",
     {{"FORMULA", -18, cell_string, "formula"},
      {"FROM", -7, cell_origin, "origin"},
      {"PER", -6, cell_string, "per"},
      {"COUNTED", -7, cell_yes, "counted"},
      {"SEEN", 11, cell_number, "seen"},
      {"MATCHED", 9, cell_number, "matched"},
      {"DROPPED", 7, cell_number, "dropped"},
      {" ENABLED", 0, cell_enablers, NULL}},
     NULL},
};

static void
reply_put_cell(const struct reply_column *column, const char *text)
{
	int padding = abs(column->width) - (int)strlen(text);

	if (column->width > 0)
		printf("%*s", padding > 0 ? padding : 0, "");
	padding = abs(column->width) - reply_put_string(text);
	if (column->width < 0)
		printf("%*s", padding > 0 ? padding : 0, "");
}

static void
reply_put_titles(const struct reply_table *table)
{
	for (const struct reply_column *column = table->columns; column->title != NULL; column++) {
		if (column > table->columns)
			putchar(' ');
		reply_put_cell(column, column->title);
	}
	putchar('\n');
}

static void
reply_put_row(const struct reply_table *table, struct reply_object *object)
{
	char bytes[CELL_SIZE];

	if (table->is_shown != NULL && !table->is_shown(object))
		return;
	for (const struct reply_column *column = table->columns; column->title != NULL; column++) {
		if (column > table->columns)
			putchar(' ');
		reply_put_cell(column, column->cell(object, column->name, bytes));
	}
	putchar('\n');
}

/* ----------------------------------------------------------------------------------------------------------- status */

/* Times of batches, nothing if there was none. */
static void
status_put_times(struct reply_object *object, const char *title, const char *name)
{
	struct reply_object times = {.members = json_object_get(object->members, name)};
	double median = (double)reply_number(&times, "p50") / 1e6, high = (double)reply_number(&times, "p99") / 1e6;
	double worst = (double)reply_number(&times, "max") / 1e6;

	if (times.missing != NULL)
		object->missing = name;
	if (worst > 0)
		printf("%-12s median %.3f ms, 99th percentile %.3f ms, worst %.3f ms in the last minute\n", title, median,
		       high, worst);
}

static void
reply_put_status(struct reply_object *object)
{
	const char *build = reply_string(object, "build_id");

	printf("netobsd ");
	reply_put_string(reply_string(object, "version"));
	printf(", pid %" PRIu64 ", up %" PRId64 " s\nbinary       ", reply_number(object, "pid"),
	       (int64_t)time(NULL) - (int64_t)reply_number(object, "started"));
	reply_put_string(reply_string(object, "binary"));
	printf(", inode %" PRIu64 ", build id ", reply_number(object, "inode"));
	reply_put_string(*build != '\0' ? build : "none");
	if (reply_bool(object, "replaced"))
		printf("\n%-12s the binary has been replaced on disk: attach as below, or restart netobsd", "");
	printf("\nattach       bpftrace -e '");
	reply_put_string(reply_string(object, "attach"));
	printf("tcp__state__change { @[probe] = count(); }'\nprobes       %" PRIu64 " of %" PRIu64
	       " enabled; probe sites: ",
	       reply_number(object, "probes_enabled"), reply_number(object, "probes"));
	reply_put_string(reply_string(object, "probe_site"));
	printf("\nframes       %" PRIu64 ", %" PRIu64 " bytes; received %" PRIu64 ", dropped %" PRIu64
	       ", dropped by interfaces %" PRIu64 "\n",
	       reply_number(object, "frames"), reply_number(object, "bytes"), reply_number(object, "received"),
	       reply_number(object, "dropped"), reply_number(object, "interface_dropped"));
	status_put_times(object, "lag", "lag_ns");
	status_put_times(object, "batch time", "batch_ns");
	printf("connections  %" PRIu64 " of at most %" PRIu64 "\n", reply_number(object, "connections"),
	       reply_number(object, "max_flows"));
	if (reply_number(object, "max_closed_connections") > 0)
		printf("ended        %" PRIu64 ", of which the last %" PRIu64 " are kept\n",
		       reply_number(object, "ended_connections"), reply_number(object, "max_closed_connections"));
	printf("workers      %" PRIu64 "\n", reply_number(object, "workers"));
	if (reply_number(object, "flight_memory") > 0)
		printf("flight       %" PRIu64 " MiB, %.1f s, %" PRIu64 " frames\n",
		       reply_number(object, "flight_memory") >> 20,
		       (double)reply_number(object, "flight_span_us") / 1e6, reply_number(object, "flight_frames"));
	printf("memory       %" PRIu64 " MiB reserved, %" PRIu64 " MiB in use\n",
	       reply_number(object, "memory_reserved") >> 20, reply_number(object, "memory_resident") >> 20);
}

/* --------------------------------------------------------------------------------------------------- other replies */

static void
reply_put_counters(struct reply_object *object)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object->members, name, value) {
		int width = reply_put_string(name);

		printf("%*s %20" PRIu64 "\n", width < 40 ? 40 - width : 0, "", reply_number(object, name));
	}
}

static void
reply_put_reload(struct reply_object *object)
{
	if (reply_bool(object, "reloaded"))
		puts("configuration reloaded");
}

/* Prints a definition in one line: a line break and the white space around it are a blank. */
static void
formula_put_definition(const char *definition)
{
	static const char white_space[] = " \t\r\n\f\v";
	char word[2] = "";

	while (*definition != '\0') {
		size_t blank = strspn(definition, white_space);
		bool broken = memchr(definition, '\n', blank) != NULL;

		word[0] = broken ? ' ' : *definition;
		reply_put_string(word);
		definition += broken ? blank : 1;
	}
	putchar('\n');
}

static void
reply_put_formula(struct reply_object *object)
{
	bool counted = reply_bool(object, "counted");
	const char *site = reply_name(object, "site"), *file = reply_name(object, "file"), *tracer;
	char enablers[CELL_SIZE];
	json_t *commands = json_object_get(object->members, "attach"), *command;

	formula_put_definition(reply_string(object, "definition"));
	printf("defined by   %s\n", strcmp(reply_string(object, "origin"), "request") == 0 ? "a request"
										   : "the configuration");
	printf("evaluated    %s, %s%s\n",
	       strcmp(reply_string(object, "per"), "packet") == 0 ? "for every packet of its probes" : "for events",
	       counted ? "always: it is counted" : "only while it is traced, printed, streamed or written",
	       reply_bool(object, "evaluated") ? "" : "; not now");
	printf("counts       seen %" PRIu64 ", matched %" PRIu64 ", dropped %" PRIu64 "\n",
	       reply_number(object, "seen"), reply_number(object, "matched"), reply_number(object, "dropped"));
	printf("enabled     %s\n", cell_enablers(object, NULL, enablers));
	if (site == NULL) {
		printf("site         none%s\n", file == NULL ? "" : ": no slot is free");
		return;
	}
	printf("site         ");
	reply_put_string(site);
	printf(" in ");
	reply_put_string(file != NULL ? file : "");
	putchar('\n');
	json_object_foreach(commands, tracer, command) {
		const char *line = json_is_string(command) ? json_string_value(command) : "";

		printf("%*s ", 12 - reply_put_string(tracer) > 0 ? 12 - (int)strlen(tracer) : 0, "");
		reply_put_string(*line != '\0' ? line : "none: the path has characters that need quotes");
		putchar('\n');
	}
}

static void
reply_put_file(struct reply_object *object)
{
	const char *file = reply_name(object, "file");

	printf("file ");
	reply_put_string(file != NULL ? file : "none");
	putchar('\n');
}

/* --------------------------------------------------------------------------------------------------------- a reply */

struct reply_text {
	const struct reply_table *table; /* NULL: no table */
	void (*put)(struct reply_object *object); /* instead of a row: all objects, with a table only the first one */
	bool begun;
};

/* Prints an object of a reply; returns the name of a member that it lacks, or NULL. */
static const char *
reply_put_object(void *context, const json_t *members)
{
	struct reply_text *text = context;
	struct reply_object object = {.members = members};
	bool first = !text->begun;

	bool put = text->put != NULL && (first || text->table == NULL);

	text->begun = true;
	if (put)
		text->put(&object);
	if (first && text->table != NULL)
		reply_put_titles(text->table);
	if (!put && text->table != NULL)
		reply_put_row(text->table, &object);
	return object.missing;
}

bool
reply_text_print(const char *path, const char *request, const char *command, bool detailed)
{
	static const struct {
		const char *command;
		void (*put)(struct reply_object *object);
	} others[] = {{"status", reply_put_status},
		      {"counters", reply_put_counters},
		      {"reload", reply_put_reload},
		      {"sites", reply_put_file}};
	struct reply_text text = {.put = detailed ? reply_put_formula : NULL};

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(others[i].command, command) == 0)
			text.put = others[i].put;
	for (size_t i = 0; i < sizeof reply_tables / sizeof reply_tables[0] && !detailed; i++)
		if (strcmp(reply_tables[i].command, command) == 0)
			text.table = &reply_tables[i];
	if (!client_visit_reply(path, request, reply_put_object, &text))
		return false;
	if (text.table != NULL && !text.begun)
		reply_put_titles(text.table);
	return true;
}
