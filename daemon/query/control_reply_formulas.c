/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies about formulas and their probe sites: see control_reply.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/query/control_reply.h"

/* Formulas in a part: each contains the path of the file six times and its definition, less than 30 KiB. */
#define REPLY_FORMULAS 2u

/* ----------------------------------------------------------------------------------------------------- attach lines */

/* The commands that attach a tracer; the words PATH, SITE, NAME and PID are replaced. */
static const struct {
	const char *tracer, *command;
} attach_lines[] = {
    {"bpftrace", "bpftrace -e 'usdt:PATH:netobs:SITE { @[probe] = count(); }'"},
    /* No wildcard: the events of other formulas and of netobsd's own probes can begin with the same name. */
    {"perf", "perf probe -q --del sdt_netobs:SITE; perf buildid-cache --add PATH && "
	     "perf probe -x PATH --add sdt_netobs:SITE && perf record -a -e sdt_netobs:SITE"},
    {"gdb", "gdb -p PID -ex 'break -probe-stap netobs:SITE' -ex continue"},
    {"SystemTap", "stap -e 'probe process(\"PATH\").provider(\"netobs\").mark(\"SITE\") { println(pp()) }'"},
    {"DTrace", "dtrace -p PID -n 'netobs$target:::NAME { @[probename] = count(); }'"},
};

#define ATTACH_LINES (sizeof attach_lines / sizeof attach_lines[0])

/* The name of a formula's site, as the note has it. */
static void
formula_site_name(const struct formula_status *status, char site[SLOTS_SITE_NAME_MAX + 1])
{
	size_t at = 0;

	if (!status->named) {
		snprintf(site, SLOTS_SITE_NAME_MAX + 1, SLOTS_DEFAULT_PREFIX "%02u", status->slot + 1);
		return;
	}
	for (const char *c = formula_name(status->formula); *c != '\0' && at + 2 <= SLOTS_SITE_NAME_MAX; c++) {
		site[at++] = *c == '-' ? '_' : *c;
		if (*c == '-')
			site[at++] = '_';
	}
	site[at] = '\0';
}

/* The name of a formula's site as DTrace has it. */
static void
formula_probe_name(const struct formula_status *status, char name[FORMULA_NAME_MAX + 1])
{
	if (status->named)
		snprintf(name, FORMULA_NAME_MAX + 1, "%s", formula_name(status->formula));
	else
		snprintf(name, FORMULA_NAME_MAX + 1, "formula-%02u", status->slot + 1);
}

/* Appends a command with the words replaced. */
static void
reply_add_command(const struct formula_status *status, const char *path, const char *command, struct text_buffer *text)
{
	char site[SLOTS_SITE_NAME_MAX + 1], name[FORMULA_NAME_MAX + 1], pid[24];
	const struct {
		const char *word, *value;
	} words[] = {{"PATH", path}, {"SITE", site}, {"NAME", name}, {"PID", pid}};

	formula_site_name(status, site);
	formula_probe_name(status, name);
	snprintf(pid, sizeof pid, "%ld", (long)getpid());
	while (*command != '\0') {
		size_t length = 1, i = 0;

		while (i < sizeof words / sizeof words[0] &&
		       strncmp(command, words[i].word, strlen(words[i].word)) != 0)
			i++;
		if (i < sizeof words / sizeof words[0]) {
			text_add_format(text, "%s", words[i].value);
			length = strlen(words[i].word);
		} else {
			text_add_format(text, "%c", *command);
		}
		command += length;
	}
}

/* Whether a shell and a tracer take a path as it is: a command with another one would not attach, or run what is in
 * it. */
static bool
reply_path_is_plain(const char *path)
{
	return path[strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+@-")] == '\0';
}

/* Makes the command that attaches a tracer, in `line`; "" if the path does not allow one. */
static const char *
reply_attach_line(const struct formula_status *status, const char *path, unsigned index, char *line, size_t size)
{
	struct text_buffer text = {.bytes = line, .size = size};

	line[0] = '\0';
	if (strstr(attach_lines[index].command, "PATH") != NULL && !reply_path_is_plain(path))
		return line;
	reply_add_command(status, path, attach_lines[index].command, &text);
	return text.truncated ? "" : line;
}

/* --------------------------------------------------------------------------------------------------------- formulas */

/* Most bytes of an attach line: three paths and three names. */
#define ATTACH_LINE_MAX (3 * 4096 + 512)

/* What receives the firings: "traced, printed", or "no". */
static void
reply_add_enablers(const struct formula_status *status, struct text_buffer *text)
{
	const struct {
		bool enables;
		const char *name;
	} enablers[] = {{status->traced, "traced"},
			{status->printed, "printed"},
			{status->fed, "streamed"},
			{status->written, "written"}};
	const char *before = "";

	for (size_t i = 0; i < sizeof enablers / sizeof enablers[0]; i++)
		if (enablers[i].enables) {
			text_add_format(text, "%s%s", before, enablers[i].name);
			before = ", ";
		}
	text_add_format(text, "%s\n", *before == '\0' ? "no" : "");
}

static const char *
formula_origin_name(const struct formula_status *status)
{
	return status->origin == FORMULA_OF_CONFIG ? "config" : "request";
}

static void
reply_add_formula_json(const struct formula_status *status, const char *path, struct text_buffer *text)
{
	char site[SLOTS_SITE_NAME_MAX + 1], line[ATTACH_LINE_MAX];
	const bool has_slot = status->slot != FORMULA_NO_SLOT;
	struct json json = text_json(text);

	json_begin_object(&json, NULL);
	json_add_string(&json, "formula", formula_name(status->formula));
	json_add_string(&json, "definition", formula_text(status->formula));
	json_add_string(&json, "origin", status->origin == FORMULA_OF_CONFIG ? "configuration" : "request");
	json_add_string(&json, "per", formula_is_per_packet(status->formula) ? "packet" : "event");
	json_add_bool(&json, "counted", formula_is_counted(status->formula));
	json_add_bool(&json, "evaluated", status->active);
	json_add_bool(&json, "printed", status->printed);
	json_add_bool(&json, "traced", status->traced);
	json_add_bool(&json, "streamed", status->fed);
	json_add_bool(&json, "written", status->written);
	json_add_unsigned(&json, "seen", status->seen);
	json_add_unsigned(&json, "matched", status->matched);
	json_add_unsigned(&json, "dropped", status->dropped);
	if (has_slot) {
		formula_site_name(status, site);
		json_add_string(&json, "file", path);
		json_add_string(&json, "site", site);
		json_add_unsigned(&json, "slot", status->slot + 1);
	} else {
		json_add_null(&json, "file");
		json_add_null(&json, "site");
		json_add_null(&json, "slot");
	}
	json_begin_object(&json, "attach");
	for (unsigned i = 0; has_slot && i < ATTACH_LINES; i++)
		json_add_string(&json, attach_lines[i].tracer, reply_attach_line(status, path, i, line, sizeof line));
	json_end_object(&json);
	json_end_line(&json);
}

static void
reply_add_formula_row(const struct formula_status *status, struct text_buffer *text)
{
	text_add_format(text, "%-18s %-7s %-6s %-7s %11llu %9llu %7llu  ", formula_name(status->formula),
			formula_origin_name(status), formula_is_per_packet(status->formula) ? "packet" : "event",
			formula_is_counted(status->formula) ? "yes" : "no", (unsigned long long)status->seen,
			(unsigned long long)status->matched, (unsigned long long)status->dropped);
	reply_add_enablers(status, text);
}

static void
reply_add_formula_cost(const struct formula_status *status, struct text_buffer *text)
{
	bool per_packet = formula_is_per_packet(status->formula), counted = formula_is_counted(status->formula);

	text_add_format(text, "evaluated    %s, %s%s\n", per_packet ? "for every packet of its probes" : "for events",
			counted ? "always: it is counted" : "only while it is traced, printed, streamed or written",
			status->active ? "" : "; not now");
}

/* The definition in one line: a line break and the white space around it are a blank. */
static void
reply_add_definition(const char *definition, struct text_buffer *text)
{
	static const char white_space[] = " \t\r\n\f\v";
	char line[FORMULA_TEXT_MAX + 1];
	size_t length = 0;

	while (*definition != '\0') {
		size_t blank = strspn(definition, white_space);

		if (memchr(definition, '\n', blank) != NULL) {
			line[length++] = ' ';
			definition += blank;
		} else {
			size_t copied = blank > 0 ? blank : strcspn(definition, white_space);

			memcpy(line + length, definition, copied);
			length += copied;
			definition += copied;
		}
	}
	line[length] = '\0';
	text_add_escaped(text, line);
}

static void
reply_add_formula_details(const struct formula_status *status, const char *path, struct text_buffer *text)
{
	char site[SLOTS_SITE_NAME_MAX + 1], line[ATTACH_LINE_MAX];

	reply_add_definition(formula_text(status->formula), text);
	text_add_format(text, "\ndefined by   %s\n",
			status->origin == FORMULA_OF_CONFIG ? "the configuration" : "a request");
	reply_add_formula_cost(status, text);
	text_add_format(text, "counts       seen %llu, matched %llu, dropped %llu\n", (unsigned long long)status->seen,
			(unsigned long long)status->matched, (unsigned long long)status->dropped);
	text_add_format(text, "enabled      ");
	reply_add_enablers(status, text);
	if (status->slot == FORMULA_NO_SLOT) {
		text_add_format(text, "site         none%s\n", path == NULL ? "" : ": no slot is free");
		return;
	}
	formula_site_name(status, site);
	text_add_format(text, "site         %s in ", site);
	text_add_escaped(text, path);
	text_add_format(text, "\n");
	for (unsigned i = 0; i < ATTACH_LINES; i++) {
		const char *command = reply_attach_line(status, path, i, line, sizeof line);

		text_add_format(text, "%-12s ", attach_lines[i].tracer);
		text_add_escaped(text, command[0] != '\0' ? command : "none: the path has characters that need quotes");
		text_add_format(text, "\n");
	}
}

static void
reply_add_formula(const struct control_reply *reply, unsigned number, struct text_buffer *text)
{
	const struct formula_set *set = reply->query->formulas;
	struct formula_status status = formula_set_status(set, number);

	if (reply->request.json)
		reply_add_formula_json(&status, formula_set_path(set), text);
	else if (reply->formula[0] != '\0')
		reply_add_formula_details(&status, formula_set_path(set), text);
	else
		reply_add_formula_row(&status, text);
}

bool
control_reply_select_formula(struct control_reply *reply, unsigned number)
{
	const struct formula_set *set = reply->query->formulas;

	if (number >= formula_set_count(set))
		return false;
	workers_pause(reply->query->workers); /* the status contains counts */
	snprintf(reply->formula, sizeof reply->formula, "%s", formula_name(formula_set_status(set, number).formula));
	workers_resume(reply->query->workers);
	return true;
}

static void
reply_begin_formulas(struct control_reply *reply, struct text_buffer *text)
{
	reply->query->update_sites(reply->query->context);
	text_add_format(text, "ok\n");
	if (!reply->request.json && reply->formula[0] == '\0')
		text_add_format(text, "%-18s %-7s %-6s %-7s %11s %9s %7s  %s\n", "FORMULA", "FROM", "PER", "COUNTED",
				"SEEN", "MATCHED", "DROPPED", "ENABLED");
	reply->begun = true;
}

void
control_reply_write_formulas(struct control_reply *reply, struct text_buffer *text)
{
	const struct query_context *query = reply->query;
	unsigned first = reply->position, end = first + REPLY_FORMULAS;

	if (!reply->begun)
		reply_begin_formulas(reply, text);
	if (reply->formula[0] != '\0') {
		first = formula_set_find(query->formulas, reply->formula);
		end = first + 1;
	}
	workers_pause(query->workers);
	for (unsigned i = first; i < end && i < formula_set_count(query->formulas); i++)
		reply_add_formula(reply, i, text);
	workers_resume(query->workers);
	reply->position = end;
	reply->done = reply->formula[0] != '\0' || end >= formula_set_count(query->formulas);
}

/* ------------------------------------------------------------------------------------------------------------ sites */

static const char *
reply_formula_of_slot(const struct formula_set *set, unsigned slot)
{
	for (unsigned i = 0; i < formula_set_count(set); i++) {
		struct formula_status status = formula_set_status(set, i);

		if (status.slot == slot)
			return formula_name(status.formula);
	}
	return "";
}

static void
reply_add_site_json(unsigned slot, const char *formula, const char *name, bool traced, struct text_buffer *text)
{
	struct json json = text_json(text);
	char own[SLOTS_SITE_NAME_MAX + 1];

	snprintf(own, sizeof own, "formula-%02u", slot + 1);
	json_begin_object(&json, NULL);
	json_add_unsigned(&json, "slot", slot + 1);
	if (*formula != '\0')
		json_add_string(&json, "formula", formula);
	else
		json_add_null(&json, "formula");
	json_add_string(&json, "name", *name != '\0' ? name : own);
	json_add_bool(&json, "traced", traced);
	json_end_line(&json);
}

/* The file of the sites, in a line of its own. */
static void
reply_add_sites_file_json(const char *path, struct text_buffer *text)
{
	struct json json = text_json(text);

	json_begin_object(&json, NULL);
	if (path != NULL)
		json_add_string(&json, "file", path);
	else
		json_add_null(&json, "file");
	json_end_line(&json);
}

/* The text reply lists the slots that are not as after the start; JSON lists all. */
void
control_reply_write_sites(struct control_reply *reply, struct text_buffer *text)
{
	const struct query_context *query = reply->query;
	bool json = reply->request.json, traced;
	const char *path = formula_set_path(query->formulas), *name;

	reply->done = true;
	query->update_sites(query->context);
	text_add_format(text, "ok\n");
	if (json) {
		reply_add_sites_file_json(path, text);
	} else {
		text_add_format(text, "file ");
		text_add_escaped(text, path != NULL ? path : "none");
		text_add_format(text, "\n%-4s %-40s %-40s %s\n", "SLOT", "FORMULA", "NAME", "TRACED");
	}
	workers_pause(query->workers);
	for (unsigned i = 0; query->describe_site(query->context, i, &name, &traced); i++) {
		const char *formula = reply_formula_of_slot(query->formulas, i);

		if (json)
			reply_add_site_json(i, formula, name, traced, text);
		else if (*formula != '\0' || *name != '\0' || traced)
			text_add_format(text, "%-4u %-40s %-40s %s\n", i + 1, *formula != '\0' ? formula : "-",
					*name != '\0' ? name : "-", traced ? "yes" : "no");
	}
	workers_resume(query->workers);
}
