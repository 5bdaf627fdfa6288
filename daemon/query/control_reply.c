/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_reply.h"

#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/stats/counters.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"
#include "probes/site/site_select.h"

/* ----------------------------------------------------------------------------------------------------------- status */

static unsigned
reply_count_enabled(void)
{
	unsigned enabled = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		enabled += semaphores_read(i) != 0;
	return enabled;
}

/* Times of batches, of the last minute, in ns. */
static void
reply_add_times(struct json *json, const char *key, const struct time_histogram *times)
{
	json_begin_object(json, key);
	json_add_unsigned(json, "p50", time_histogram_percentile(times, 50));
	json_add_unsigned(json, "p99", time_histogram_percentile(times, 99));
	json_add_unsigned(json, "max", times->largest_ns);
	json_end_object(json);
}

static void
reply_status(struct query_context *query, struct text_buffer *text)
{
	struct stats_memory memory = stats_reserved_memory(query->config);
	struct stats_totals totals;
	const struct observe_counters *observed = &totals.observed;
	const struct input_counters *input = &totals.input;
	struct json json = text_json(text);
	char attach[64];

	stats_collect(query->workers, &totals);
	json_begin_object(&json, NULL);
	json_add_string(&json, "version", PACKAGE_VERSION);
	json_add_signed(&json, "pid", getpid());
	json_add_signed(&json, "started", query->started);
	json_add_string(&json, "build_id", query->build.hex);
	json_add_string(&json, "binary", query->build.path);
	json_add_unsigned(&json, "inode", query->build.inode);
	json_add_bool(&json, "replaced", build_id_is_replaced(&query->build));
	snprintf(attach, sizeof attach, "usdt:/proc/%ld/exe:netobs:", (long)getpid());
	json_add_string(&json, "attach", attach);
	json_add_unsigned(&json, "probes", PROBE_COUNT);
	json_add_unsigned(&json, "probes_enabled", reply_count_enabled());
	json_add_string(&json, "probe_site", site_kind_name(site_selected()));
	json_add_unsigned(&json, "frames", observed->frames);
	json_add_unsigned(&json, "bytes", observed->bytes);
	json_add_unsigned(&json, "received", input->received);
	json_add_unsigned(&json, "dropped", input->dropped);
	json_add_unsigned(&json, "interface_dropped", input->interface_dropped);
	json_add_unsigned(&json, "connections", totals.flows.flows);
	json_add_unsigned(&json, "max_flows", query->config->flow_limits.flows);
	json_add_unsigned(&json, "memory_reserved", stats_memory_total(&memory));
	json_add_unsigned(&json, "flight_memory", query->config->flight_memory);
	json_add_unsigned(&json, "flight_span_us", totals.flight_span_us);
	json_add_unsigned(&json, "flight_frames", totals.flight.frames_now);
	json_add_unsigned(&json, "closed_connections", totals.closed.now);
	json_add_unsigned(&json, "max_closed_connections",
			  query->closed != NULL ? record_ring_capacity(query->closed) : 0);
	json_add_unsigned(&json, "ended_connections", totals.closed.now + totals.closed.overwritten);
	reply_add_times(&json, "lag_ns", &totals.batches_of_minute.lag);
	reply_add_times(&json, "batch_ns", &totals.batches_of_minute.duration);
	json_add_unsigned(&json, "memory_resident", stats_resident_memory());
	json_add_unsigned(&json, "workers", query->workers->count);
	json_end_line(&json);
}

/* ----------------------------------------------------------------------------------------------------------- probes */

static void
reply_probes(struct query_context *query, struct text_buffer *text)
{
	struct json json = text_json(text);
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		json_begin_object(&json, NULL);
		json_add_string(&json, "probe", manifest_probes[i].name);
		json_add_unsigned(&json, "enabled", site_count_enablers(semaphores_read(i), manifest_sites(i)));
		json_add_unsigned(&json, "fired", totals.fired[i]);
		json_end_line(&json);
	}
}

/* ------------------------------------------------------------------------------------------------------- interfaces */

/* Most bytes of the line of an interface. */
#define INTERFACE_LINE_MAX 512u

/* The interfaces of a part of the reply. */
struct interfaces_part {
	struct text_buffer *text;
	uint32_t position; /* number of the next interface that is written */
	uint32_t visited;
};

static void
reply_add_interface(void *context, const struct input_interface *observed)
{
	struct interfaces_part *part = context;
	static const char *const states[INTERFACE_STATES] = {[INTERFACE_UP] = "up",
							     [INTERFACE_DOWN] = "down",
							     [INTERFACE_REMOVED] = "lost",
							     [INTERFACE_REFUSED] = "refused"};
	const char *link_type = pcap_datalink_val_to_name(observed->link_type);
	struct json json = text_json(part->text);

	if (part->visited++ != part->position || text_space_left(part->text) < INTERFACE_LINE_MAX)
		return;
	part->position++;
	json_begin_object(&json, NULL);
	json_add_string(&json, "interface", observed->interface->name);
	json_add_unsigned(&json, "ifindex", observed->interface->ifindex);
	json_add_string(&json, "state", states[observed->state]);
	json_add_string(&json, "link_type", link_type != NULL ? link_type : "?");
	json_add_unsigned(&json, "received", observed->received);
	json_add_unsigned(&json, "dropped", observed->dropped);
	json_add_unsigned(&json, "interface_dropped", observed->interface_dropped);
	json_add_unsigned(&json, "lost", observed->times_removed);
	json_end_line(&json);
}

static void
reply_write_interfaces(struct control_reply *reply, struct text_buffer *text)
{
	struct interfaces_part part = {.text = text, .position = reply->position};

	if (!reply->begun)
		text_add_format(text, "ok\n");
	reply->begun = true;
	stats_visit_interfaces(reply->query->workers, reply_add_interface, &part);
	reply->position = part.position;
	reply->done = part.position >= part.visited;
}

/* --------------------------------------------------------------------------------------------------------- counters */

static void
reply_add_counter(void *context, const char *group, const char *name, uint64_t value)
{
	char full[JSON_NAME_MAX + 1];

	snprintf(full, sizeof full, "%s%s", group, name);
	json_add_unsigned(context, full, value);
}

static void
reply_counters(struct query_context *query, struct text_buffer *text)
{
	struct json json = text_json(text);
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	json_begin_object(&json, NULL);
	counters_visit(&totals, reply_add_counter, &json);
	json_end_line(&json);
}

/* ------------------------------------------------------------------------------------------------------------ debug */

static void
reply_debug(const struct control_request *request, struct text_buffer *text)
{
	struct json json = text_json(text);

	if (request->set_debug)
		log_debug_enable(request->debug_topics);
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++) {
		json_begin_object(&json, NULL);
		json_add_string(&json, "topic", debug_topics[i].name);
		json_add_bool(&json, "on", log_debug_is_on((enum debug_topic)i));
		json_add_string(&json, "messages", debug_topics[i].help);
		json_end_line(&json);
	}
}

/* --------------------------------------------------------------------------------------------------------- formulas */

/* Formulas in a part: each contains the path of the file six times and its definition, less than 30 KiB. */
#define REPLY_FORMULAS 2u

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

/* Most bytes of a command: three paths and three names. */
#define COMMAND_MAX (3 * 4096 + 512)

/* Appends the command that attaches a tracer; "" if the path of the file does not allow one. */
static void __attribute__((format(printf, 4, 5)))
reply_add_command(struct json *json, const char *tracer, bool allowed, const char *format, ...)
{
	char command[COMMAND_MAX];
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(command, sizeof command, format, arguments) >= (int)sizeof command || !allowed)
		command[0] = '\0';
	va_end(arguments);
	json_add_string(json, tracer, command);
}

/* Whether a shell and a tracer take a path as it is: a command with another one would not attach, or run what is in
 * it. */
static bool
reply_path_is_plain(const char *path)
{
	return path[strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+@-")] == '\0';
}

static void
reply_add_commands(struct json *json, const struct formula_status *status, const char *path, const char *site)
{
	bool plain = reply_path_is_plain(path);
	char name[FORMULA_NAME_MAX + 1]; /* of the site, as DTrace has it */

	if (status->named)
		snprintf(name, sizeof name, "%s", formula_name(status->formula));
	else
		snprintf(name, sizeof name, "formula-%02u", status->slot + 1);
	reply_add_command(json, "bpftrace", plain, "bpftrace -e 'usdt:%s:netobs:%s { @[probe] = count(); }'", path,
			  site);
	/* No wildcard: the events of other formulas and of netobsd's own probes can begin with the same name. */
	reply_add_command(json, "perf", plain,
			  "perf probe -q --del sdt_netobs:%2$s; perf buildid-cache --add %1$s && "
			  "perf probe -x %1$s --add sdt_netobs:%2$s && perf record -a -e sdt_netobs:%2$s",
			  path, site);
	reply_add_command(json, "gdb", true, "gdb -p %ld -ex 'break -probe-stap netobs:%s' -ex continue",
			  (long)getpid(), site);
	reply_add_command(json, "SystemTap", plain,
			  "stap -e 'probe process(\"%s\").provider(\"netobs\").mark(\"%s\") { println(pp()) }'", path,
			  site);
	reply_add_command(json, "DTrace", true, "dtrace -p %ld -n 'netobs$target:::%s { @[probename] = count(); }'",
			  (long)getpid(), name);
}

/* A string, or null. */
static void
reply_add_name(struct json *json, const char *name, const char *value)
{
	if (value != NULL)
		json_add_string(json, name, value);
	else
		json_add_null(json, name);
}

static void
reply_add_formula(const struct formula_set *set, unsigned number, struct text_buffer *text)
{
	struct formula_status of = formula_set_status(set, number);
	const struct formula_status *status = &of;
	const char *path = formula_set_path(set);
	char site[SLOTS_SITE_NAME_MAX + 1];
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
	reply_add_name(&json, "file", path);
	if (has_slot) {
		formula_site_name(status, site);
		json_add_string(&json, "site", site);
		json_add_unsigned(&json, "slot", status->slot + 1);
	} else {
		json_add_null(&json, "site");
		json_add_null(&json, "slot");
	}
	json_begin_object(&json, "attach");
	if (has_slot)
		reply_add_commands(&json, status, path, site);
	json_end_object(&json);
	json_end_line(&json);
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
reply_write_formulas(struct control_reply *reply, struct text_buffer *text)
{
	const struct query_context *query = reply->query;
	unsigned first = reply->position, end = first + REPLY_FORMULAS;

	if (!reply->begun) {
		query->update_sites(query->context);
		text_add_format(text, "ok\n");
		reply->begun = true;
	}
	if (reply->formula[0] != '\0') {
		first = formula_set_find(query->formulas, reply->formula);
		end = first + 1;
	}
	workers_pause(query->workers);
	for (unsigned i = first; i < end && i < formula_set_count(query->formulas); i++)
		reply_add_formula(query->formulas, i, text);
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
	return NULL;
}

/* The file of the sites in a line of its own, then the slots. */
static void
reply_sites(const struct query_context *query, struct text_buffer *text)
{
	struct json json = text_json(text);
	char own[SLOTS_SITE_NAME_MAX + 1];
	const char *name;
	bool traced;

	query->update_sites(query->context);
	json_begin_object(&json, NULL);
	reply_add_name(&json, "file", formula_set_path(query->formulas));
	json_end_line(&json);
	workers_pause(query->workers);
	for (unsigned i = 0; query->describe_site(query->context, i, &name, &traced); i++) {
		snprintf(own, sizeof own, "formula-%02u", i + 1);
		json_begin_object(&json, NULL);
		json_add_unsigned(&json, "slot", i + 1);
		reply_add_name(&json, "formula", reply_formula_of_slot(query->formulas, i));
		json_add_string(&json, "name", *name != '\0' ? name : own);
		json_add_bool(&json, "traced", traced);
		json_end_line(&json);
	}
	workers_resume(query->workers);
}

/* --------------------------------------------------------------------------------------------------------- dispatch */

static void
reply_reload(struct query_context *query, struct text_buffer *text)
{
	struct json json = text_json(text);
	char error[256] = "";

	if (!query->reload(query->context, error, sizeof error)) {
		control_reply_fail(error, false, text);
		return;
	}
	text_add_format(text, "ok\n");
	json_begin_object(&json, NULL);
	json_add_bool(&json, "reloaded", true);
	json_end_line(&json);
}

/* Replies of one part. */
static void
reply_write_single(struct control_reply *reply, struct text_buffer *text)
{
	struct query_context *query = reply->query;

	reply->done = true;
	if (reply->request.command != REQUEST_RELOAD)
		text_add_format(text, "ok\n");
	switch (reply->request.command) {
	case REQUEST_RELOAD:
		reply_reload(query, text);
		break;
	case REQUEST_STATUS:
		reply_status(query, text);
		break;
	case REQUEST_PROBES:
		reply_probes(query, text);
		break;
	case REQUEST_DEBUG:
		reply_debug(&reply->request, text);
		break;
	case REQUEST_SITES:
		reply_sites(query, text);
		break;
	case REQUEST_COUNTERS:
		reply_counters(query, text);
		break;
	default: /* undefine */
		break;
	}
}

void
control_reply_fail(const char *error, bool denied, struct text_buffer *text)
{
	text_add_format(text, "%s ", denied ? "denied" : "error");
	text_add_escaped(text, error); /* contains names of files */
	text_add_format(text, "\n");
}

void
control_reply_write(struct control_reply *reply, struct text_buffer *text)
{
	if (reply->request.command == REQUEST_CONNECTIONS)
		control_reply_write_connections(reply, text);
	else if (reply->request.command == REQUEST_FORMULAS || reply->request.command == REQUEST_DEFINE)
		reply_write_formulas(reply, text);
	else if (reply->request.command == REQUEST_INTERFACES)
		reply_write_interfaces(reply, text);
	else if (reply->request.command == REQUEST_WRITE)
		control_reply_write_frames(reply, text);
	else
		reply_write_single(reply, text);
}
