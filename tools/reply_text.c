/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/reply_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

#define LINES_MAX 14

/*
 * How the objects of a reply are printed.  In a line {NAME} is a member, and a brace before a blank is itself.
 * {NAME:WIDTH KIND} has a width, which is negative for what stands on the left, and a kind: M, a number as MiB; m, ns
 * as milliseconds; s, us as seconds; u, a time since the epoch as the seconds since then; y, a bool as yes or no; o, as
 * on or off; n, a name, or "none".  "?NAME " at the beginning: the line is printed if the member is true, another
 * number than 0, or a string.
 */
struct reply_shape {
	const char *command;
	const char *head;  /* a line for the first object, instead of the others; NULL: none */
	const char *title; /* NULL: none */
	const char *needs; /* members that `prepare` reads, with blanks between them */
	/* Adds members that the lines have; false: the object is not shown.  NULL: nothing is added. */
	bool (*prepare)(json_t *object);
	const char *lines[LINES_MAX]; /* for each object */
};

/* ------------------------------------------------------------------------------------------------------------ lines */

/* A member of an object, or "NAME.MEMBER" of an object in it. */
static const json_t *
reply_member(const json_t *object, const char *name, size_t length)
{
	char key[64];
	char *dot;

	snprintf(key, sizeof key, "%.*s", (int)length, name);
	dot = strchr(key, '.');
	if (dot == NULL)
		return json_object_get(object, key);
	*dot = '\0';
	return json_object_get(json_object_get(object, key), dot + 1);
}

/* Prints a string for a terminal; returns its width. */
static int
reply_put_string(FILE *to, const char *string)
{
	char piece[64 * FORMAT_PLAIN_BYTE_MAX + 8];
	int width = 0;

	while (*string != '\0') {
		size_t length = strnlen(string, 64);

		width += fprintf(to, "%.*s", (int)(put_plain_text(piece, string, length) - piece), piece);
		string += length;
	}
	return width;
}

/* The text of a member, in `bytes` or where it is; NULL if it is of another type than the kind needs. */
static const char *
reply_member_text(const json_t *member, char kind, char *bytes, size_t size)
{
	bool number = json_is_integer(member) && json_integer_value(member) >= 0;
	json_int_t value = json_integer_value(member);

	switch (kind) {
	case 'y':
	case 'o':
		if (!json_is_boolean(member))
			return NULL;
		return json_is_true(member) ? (kind == 'y' ? "yes" : "on") : (kind == 'y' ? "no" : "off");
	case 'M':
		snprintf(bytes, size, "%lld", (long long)value >> 20);
		return number ? bytes : NULL;
	case 'm':
		snprintf(bytes, size, "%.3f", (double)value / 1e6);
		return number ? bytes : NULL;
	case 's':
		snprintf(bytes, size, "%.1f", (double)value / 1e6);
		return number ? bytes : NULL;
	case 'u':
		snprintf(bytes, size, "%lld", number && value < time(NULL) ? (long long)time(NULL) - value : 0);
		return number ? bytes : NULL;
	default:
		if (json_is_null(member))
			return kind == 'n' ? "none" : "-";
		snprintf(bytes, size, "%lld", (long long)value);
		return number ? bytes : json_string_value(member);
	}
}

/* Prints the member that "NAME}" or "NAME:WIDTH KIND}" describes.  False if the object lacks it. */
static bool
reply_put_member(FILE *to, const json_t *object, const char *description)
{
	size_t length = strcspn(description, ":}");
	char *kind = (char[]){""}, bytes[32];
	long width = description[length] == ':' ? strtol(description + length + 1, &kind, 10) : 0;
	const char *text = reply_member_text(reply_member(object, description, length), *kind, bytes, sizeof bytes);
	int padding;

	if (text == NULL)
		return false;
	padding = (int)labs(width) - (int)strlen(text);
	if (width > 0)
		fprintf(to, "%*s", padding > 0 ? padding : 0, "");
	padding = (int)labs(width) - reply_put_string(to, text);
	if (width < 0)
		fprintf(to, "%*s", padding > 0 ? padding : 0, "");
	return true;
}

/* Prints a line; returns the name of a member that the object lacks, or NULL. */
static const char *
reply_put_line(FILE *to, const json_t *object, const char *line)
{
	if (*line == '?') {
		const json_t *member = reply_member(object, line + 1, strcspn(line + 1, " "));

		if (member == NULL)
			return line + 1;
		if (!json_is_true(member) && json_integer_value(member) == 0 && !json_is_string(member))
			return NULL;
		line += strcspn(line, " ") + 1;
	}
	for (; *line != '\0'; line++) {
		if (line[0] != '{' || line[1] == ' ') {
			fputc(*line, to);
			continue;
		}
		if (!reply_put_member(to, object, ++line))
			return line;
		line += strcspn(line, "}");
	}
	fputc('\n', to);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------- the shapes */

static void
reply_set(json_t *object, const char *name, const char *string)
{
	json_object_set_new(object, name, json_string(string));
}

static bool
prepare_status(json_t *object)
{
	const char *build = json_read_string(object, "build_id");

	if (build != NULL && *build == '\0')
		reply_set(object, "build_id", "none");
	return true;
}

static bool
prepare_probe(json_t *object)
{
	return json_integer_value(json_object_get(object, "enabled")) != 0 ||
	       json_integer_value(json_object_get(object, "fired")) != 0;
}

/* Sites that are as after the start are not shown, nor is the default name. */
static bool
prepare_site(json_t *object)
{
	const char *name = json_read_string(object, "name");
	char own[32];

	snprintf(own, sizeof own, "formula-%02lld", (long long)json_integer_value(json_object_get(object, "slot")));
	if (name == NULL || strcmp(name, own) != 0)
		return true;
	reply_set(object, "name", "-");
	return !json_is_null(json_object_get(object, "formula")) || json_is_true(json_object_get(object, "traced"));
}

/* Adds what receives the firings, "traced, printed" or "no", and from where the formula is. */
static bool
prepare_formula(json_t *object)
{
	static const char *const enablers[] = {"traced", "printed", "streamed", "written"};
	const char *origin = json_read_string(object, "origin");
	char text[64] = "no";
	int used = 0;

	for (size_t i = 0; i < sizeof enablers / sizeof enablers[0]; i++)
		if (json_is_true(json_object_get(object, enablers[i])))
			used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", used > 0 ? ", " : "",
					 enablers[i]);
	reply_set(object, "enablers", text);
	reply_set(object, "from", origin != NULL && strcmp(origin, "request") == 0 ? "request" : "config");
	return true;
}

/* Makes a definition one line: a line break and the white space around it are a blank. */
static void
formula_join_lines(char *definition)
{
	static const char white_space[] = " \t\r\n\f\v";
	char *to = definition;

	while (*definition != '\0') {
		size_t blank = strspn(definition, white_space);
		bool broken = memchr(definition, '\n', blank) != NULL;

		*to++ = broken ? ' ' : *definition;
		definition += broken ? blank : 1;
	}
	*to = '\0';
}

/* Adds the sentences of a formula that is described. */
static bool
prepare_details(json_t *object)
{
	const char *definition = json_read_string(object, "definition"), *per = json_read_string(object, "per"),
		   *tracer;
	char *line = strdup(definition != NULL ? definition : ""), text[160];
	json_t *commands = json_object_get(object, "attach"), *command;
	const char *origin = json_read_string(object, "origin");

	if (line != NULL && definition != NULL) {
		formula_join_lines(line);
		reply_set(object, "definition", line);
	}
	free(line);
	(void)prepare_formula(object);
	reply_set(object, "by", origin != NULL && strcmp(origin, "request") == 0 ? "a request" : "the configuration");
	snprintf(text, sizeof text, "%s, %s%s",
		 per != NULL && strcmp(per, "packet") == 0 ? "for every packet of its probes" : "for events",
		 json_is_true(json_object_get(object, "counted"))
		     ? "always: it is counted"
		     : "only while it is traced, printed, streamed or written",
		 json_is_true(json_object_get(object, "evaluated")) ? "" : "; not now");
	reply_set(object, "evaluation", text);
	json_object_set_new(object, "full",
			    json_boolean(json_is_null(json_object_get(object, "site")) &&
					 json_is_string(json_object_get(object, "file"))));
	json_object_set_new(object, "off", json_boolean(json_is_null(json_object_get(object, "file"))));
	json_object_foreach(commands, tracer, command)
	{
		if (json_is_string(command) && *json_string_value(command) == '\0')
			reply_set(commands, tracer, "none: the path has characters that need quotes");
	}
	return true;
}

static const struct reply_shape reply_shapes[] = {
    {.command = "status",
     .needs = "build_id",
     .prepare = prepare_status,
     .lines = {"netobsd {version}, pid {pid}, up {started:u} s",
	       "binary       {binary}, inode {inode}, build id {build_id}",
	       "?replaced              the binary has been replaced on disk: attach as below, or restart netobsd",
	       "attach       bpftrace -e '{attach}tcp__state__change { @[probe] = count(); }'",
	       "probes       {probes_enabled} of {probes} enabled; probe sites: {probe_site}",
	       "frames       {frames}, {bytes} bytes; received {received}, dropped {dropped}, dropped by interfaces "
	       "{interface_dropped}",
	       "?lag_ns.max lag          median {lag_ns.p50:m} ms, 99th percentile {lag_ns.p99:m} ms, worst "
	       "{lag_ns.max:m} ms in the last minute",
	       "?batch_ns.max batch time   median {batch_ns.p50:m} ms, 99th percentile {batch_ns.p99:m} ms, worst "
	       "{batch_ns.max:m} ms in the last minute",
	       "connections  {connections} of at most {max_flows}",
	       "?max_closed_connections ended        {ended_connections}, of which the last {max_closed_connections} "
	       "are kept",
	       "workers      {workers}",
	       "?flight_memory flight       {flight_memory:M} MiB, {flight_span_us:s} s, {flight_frames} frames",
	       "memory       {memory_reserved:M} MiB reserved, {memory_resident:M} MiB in use"}},
    {.command = "probes",
     .needs = "enabled fired",
     .title = "PROBE                       ENABLED                FIRED",
     .prepare = prepare_probe,
     .lines = {"{probe:-26} {enabled:8} {fired:20}"}},
    {.command = "interfaces",
     .title = "INTERFACE         INDEX STATE    LINK                 RECEIVED    DROPPED IF-DROPPED REMOVED",
     .lines = {"{interface:-16} {ifindex:6} {state:-8} {link_type:-14} {received:14} {dropped:10} "
	       "{interface_dropped:10} {lost:6}"}},
    {.command = "reload", .lines = {"?reloaded configuration reloaded"}},
    {.command = "debug", .title = "TOPIC      STATE MESSAGES", .lines = {"{topic:-10} {on:-5o} {messages}"}},
    {.command = "formulas",
     .needs = "origin traced printed streamed written",
     .title = "FORMULA            FROM    PER    COUNTED        SEEN   MATCHED DROPPED  ENABLED",
     .prepare = prepare_formula,
     .lines = {"{formula:-18} {from:-7} {per:-6} {counted:-7y} {seen:11} {matched:9} {dropped:7}  {enablers}"}},
    {.command = "formula",
     .needs = "definition origin per counted evaluated site file attach traced printed streamed written",
     .prepare = prepare_details,
     .lines = {"{definition}", "defined by   {by}", "evaluated    {evaluation}",
	       "counts       seen {seen}, matched {matched}, dropped {dropped}", "enabled      {enablers}",
	       "?off site         none", "?full site         none: no slot is free",
	       "?site site         {site} in {file}", "?site bpftrace     {attach.bpftrace}",
	       "?site perf         {attach.perf}", "?site gdb          {attach.gdb}",
	       "?site SystemTap    {attach.SystemTap}", "?site DTrace       {attach.DTrace}"}},
    {.command = "sites",
     .needs = "slot name formula traced",
     .head = "file {file:n}",
     .title = "SLOT FORMULA                                  NAME                                     TRACED",
     .prepare = prepare_site,
     .lines = {"{slot:-4} {formula:-40} {name:-40} {traced:y}"}},
    {.command = "undefine"},
};

/* --------------------------------------------------------------------------------------------------------- a reply */

struct reply_text {
	const struct reply_shape *shape; /* NULL: each member is a line */
	bool begun;
};

/* Prints the members, which are numbers. */
static const char *
reply_put_counters(FILE *to, json_t *object)
{
	const char *name, *text;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		int width = reply_put_string(to, name);
		char bytes[32];

		text = json_is_integer(value) ? reply_member_text(value, 0, bytes, sizeof bytes) : NULL;
		if (text == NULL)
			return name;
		fprintf(to, "%*s %20s\n", width < 40 ? 40 - width : 0, "", text);
	}
	return NULL;
}

/* Returns the name of a member that is missing or of another type, or NULL. */
static const char *
reply_put_object(struct reply_text *text, FILE *to, json_t *object)
{
	const struct reply_shape *shape = text->shape;
	bool first = !text->begun;
	const char *missing = NULL;

	text->begun = true;
	if (shape == NULL)
		return reply_put_counters(to, object);
	if (first && shape->head != NULL)
		missing = reply_put_line(to, object, shape->head);
	if (first && shape->title != NULL)
		fprintf(to, "%s\n", shape->title);
	if (first && shape->head != NULL)
		return missing;
	for (const char *name = shape->needs; name != NULL && *name != '\0';
	     name += strcspn(name, " "), name += strspn(name, " "))
		if (reply_member(object, name, strcspn(name, " ")) == NULL)
			return name;
	if (shape->prepare != NULL && !shape->prepare(object))
		return NULL;
	for (size_t i = 0; i < LINES_MAX && shape->lines[i] != NULL && missing == NULL; i++)
		missing = reply_put_line(to, object, shape->lines[i]);
	return missing;
}

/* An object is printed as a whole, or nothing of it. */
static const char *
reply_print_object(void *context, json_t *object)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&bytes, &size);
	const char *missing = to != NULL ? reply_put_object(context, to, object) : "memory";

	if (to != NULL && fclose(to) != 0)
		missing = "memory";
	if (missing == NULL)
		fwrite(bytes, 1, size, stdout);
	free(bytes);
	return missing;
}

bool
reply_text_print(const char *path, const char *request, const char *command)
{
	struct reply_text text = {.shape = NULL};

	for (size_t i = 0; i < sizeof reply_shapes / sizeof reply_shapes[0]; i++)
		if (strcmp(reply_shapes[i].command, command) == 0)
			text.shape = &reply_shapes[i];
	if (!client_visit_reply(path, request, CLIENT_REPLY_MAX, reply_print_object, &text))
		return false;
	if (!text.begun && text.shape != NULL && text.shape->title != NULL)
		puts(text.shape->title);
	return client_end_output();
}
