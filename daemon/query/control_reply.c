/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_reply.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log_debug.h"
#include "daemon/stats/counters.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/site_select.h"

/* ----------------------------------------------------------------------------------------------------------- status */

static unsigned
reply_count_enabled(void)
{
	unsigned enabled = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		enabled += SEMAPHORE_READ(probe_semaphores[i]) != 0;
	return enabled;
}

static void
reply_status_text(struct query_context *query, struct text_buffer *text)
{
	struct stats_memory memory = stats_reserved_memory(query->config);
	struct stats_totals totals;
	const struct observe_counters *observed = &totals.observed;
	const struct input_counters *input = &totals.input;
	const struct flow_counters *flows = &totals.flows;
	const struct build_id *build = &query->build;

	stats_collect(query->workers, &totals);
	text_add_format(text, "netobsd %s, pid %ld, up %lld s\n", PACKAGE_VERSION, (long)getpid(),
			(long long)(time(NULL) - query->started));
	text_add_format(text, "binary       ");
	text_add_escaped(text, build->path);
	text_add_format(text, ", inode %llu, build id %s\n", (unsigned long long)build->inode,
			build->hex[0] != '\0' ? build->hex : "none");
	if (build_id_is_replaced(build))
		text_add_format(
		    text, "%-12s the binary has been replaced on disk: attach as below, or restart netobsd\n", "");
	text_add_format(text,
			"%-12s bpftrace -e 'usdt:/proc/%ld/exe:netobs:tcp__state__change { @[probe] = count(); }'\n",
			"attach", (long)getpid());
	text_add_format(text, "probes       %u of %u enabled; probe sites: %s\n", reply_count_enabled(), PROBE_COUNT,
			site_kind_name(site_selected()));
	text_add_format(text,
			"frames       %llu, %llu bytes; received %llu, dropped %llu, dropped by interfaces %llu\n",
			(unsigned long long)observed->frames, (unsigned long long)observed->bytes,
			(unsigned long long)input->received, (unsigned long long)input->dropped,
			(unsigned long long)input->interface_dropped);
	text_add_format(text, "connections  %llu of at most %u\n", (unsigned long long)flows->flows,
			(unsigned)query->config->flow_limits.flows);
	text_add_format(text, "workers      %u\n", query->workers->count);
	text_add_format(text, "memory       %llu MiB reserved, %llu MiB in use\n",
			(unsigned long long)stats_memory_total(&memory) >> 20,
			(unsigned long long)stats_resident_memory() >> 20);
}

static void
reply_status_json(struct query_context *query, struct text_buffer *text)
{
	struct stats_memory memory = stats_reserved_memory(query->config);
	struct stats_totals totals;
	const struct observe_counters *observed = &totals.observed;
	const struct input_counters *input = &totals.input;
	const struct flow_counters *flows = &totals.flows;

	stats_collect(query->workers, &totals);
	text_add_format(text, "{\"version\":\"%s\",\"pid\":%ld,\"started\":%lld,\"build_id\":\"%s\",\"binary\":",
			PACKAGE_VERSION, (long)getpid(), (long long)query->started, query->build.hex);
	text_add_json(text, query->build.path);
	text_add_format(text, ",\"inode\":%llu,\"replaced\":%s,\"attach\":\"usdt:/proc/%ld/exe:netobs:\"",
			(unsigned long long)query->build.inode, build_id_is_replaced(&query->build) ? "true" : "false",
			(long)getpid());
	text_add_format(text, ",\"probes_enabled\":%u,\"probe_site\":\"%s\"", reply_count_enabled(),
			site_kind_name(site_selected()));
	text_add_format(text, ",\"frames\":%llu,\"bytes\":%llu,\"received\":%llu,\"dropped\":%llu",
			(unsigned long long)observed->frames, (unsigned long long)observed->bytes,
			(unsigned long long)input->received, (unsigned long long)input->dropped);
	text_add_format(text,
			",\"interface_dropped\":%llu,\"connections\":%llu,\"max_flows\":%u,\"memory_reserved\":%llu",
			(unsigned long long)input->interface_dropped, (unsigned long long)flows->flows,
			(unsigned)query->config->flow_limits.flows, (unsigned long long)stats_memory_total(&memory));
	text_add_format(text, ",\"memory_resident\":%llu,\"workers\":%u}\n",
			(unsigned long long)stats_resident_memory(), query->workers->count);
}

/* ----------------------------------------------------------------------------------------------------------- probes */

/* The text reply lists only probes that are enabled or have fired; JSON lists all. */
static void
reply_probes(struct query_context *query, bool json, struct text_buffer *text)
{
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	if (!json)
		text_add_format(text, "%-26s %8s %20s\n", "PROBE", "ENABLED", "FIRED");
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		unsigned enabled = site_count_enablers(SEMAPHORE_READ(probe_semaphores[i]));
		unsigned long long fired = totals.fired[i];

		if (json)
			text_add_format(text, "{\"probe\":\"%s\",\"enabled\":%u,\"fired\":%llu}\n",
					manifest_probes[i].name, enabled, fired);
		else if (enabled > 0 || fired > 0)
			text_add_format(text, "%-26s %8u %20llu\n", manifest_probes[i].name, enabled, fired);
	}
}

/* ------------------------------------------------------------------------------------------------------- interfaces */

struct reply_table {
	bool json;
	struct text_buffer *text;
	bool first;
};

static const char *const interface_state_names[INTERFACE_STATES] = {
    [INTERFACE_UP] = "up", [INTERFACE_DOWN] = "down", [INTERFACE_REMOVED] = "lost", [INTERFACE_REFUSED] = "refused"};

static const char *
link_type_name(int link_type)
{
	const char *name = pcap_datalink_val_to_name(link_type);

	return name != NULL ? name : "?";
}

static void
reply_add_interface(void *context, const struct input_interface *observed)
{
	const struct reply_table *table = context;
	struct text_buffer *text = table->text;

	if (table->json) {
		text_add_format(text, "{\"interface\":");
		text_add_json(text, observed->interface->name);
		text_add_format(
		    text,
		    ",\"ifindex\":%u,\"state\":\"%s\",\"link_type\":\"%s\",\"received\":%llu,\"dropped\":%llu,"
		    "\"interface_dropped\":%llu,\"lost\":%llu}\n",
		    (unsigned)observed->interface->ifindex, interface_state_names[observed->state],
		    link_type_name(observed->link_type), (unsigned long long)observed->received,
		    (unsigned long long)observed->dropped, (unsigned long long)observed->interface_dropped,
		    (unsigned long long)observed->times_removed);
		return;
	}
	text_add_escaped(text, observed->interface->name);
	text_add_format(text, "%*s %6u %-8s %-14s %14llu %10llu %10llu %6llu\n",
			(int)(sizeof observed->interface->name - strlen(observed->interface->name)), "",
			(unsigned)observed->interface->ifindex, interface_state_names[observed->state],
			link_type_name(observed->link_type), (unsigned long long)observed->received,
			(unsigned long long)observed->dropped, (unsigned long long)observed->interface_dropped,
			(unsigned long long)observed->times_removed);
}

static void
reply_interfaces(struct query_context *query, bool json, struct text_buffer *text)
{
	struct reply_table table = {.json = json, .text = text};

	if (!json)
		text_add_format(text, "%-16s %6s %-8s %-14s %14s %10s %10s %6s\n", "INTERFACE", "INDEX", "STATE",
				"LINK", "RECEIVED", "DROPPED", "IF-DROPPED", "REMOVED");
	stats_visit_interfaces(query->workers, reply_add_interface, &table);
}

/* --------------------------------------------------------------------------------------------------------- counters */

static void
reply_add_counter(void *context, const char *group, const char *name, uint64_t value)
{
	struct reply_table *table = context;

	if (table->json)
		text_add_format(table->text, "%s\"%s%s\":%llu", table->first ? "{" : ",", group, name,
				(unsigned long long)value);
	else
		text_add_format(table->text, "%s%-*s %20llu\n", group, 40 - (int)strlen(group), name,
				(unsigned long long)value);
	table->first = false;
}

static void
reply_counters(struct query_context *query, bool json, struct text_buffer *text)
{
	struct reply_table table = {.json = json, .text = text, .first = true};
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	counters_visit(&totals, reply_add_counter, &table);
	if (json)
		text_add_format(text, "}\n");
}

/* ------------------------------------------------------------------------------------------------------------ debug */

static void
reply_debug(const struct control_request *request, struct text_buffer *text)
{
	if (request->set_debug)
		log_debug_enable(request->debug_topics);
	if (!request->json)
		text_add_format(text, "%-10s %-5s %s\n", "TOPIC", "STATE", "MESSAGES");
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++) {
		bool on = log_debug_is_on((enum debug_topic)i);

		if (request->json)
			text_add_format(text, "{\"topic\":\"%s\",\"on\":%s}\n", debug_topics[i].name,
					on ? "true" : "false");
		else
			text_add_format(text, "%-10s %-5s %s\n", debug_topics[i].name, on ? "on" : "off",
					debug_topics[i].help);
	}
}

/* --------------------------------------------------------------------------------------------------------- formulas */

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

static void
reply_add_formula_json(const struct formula_status *status, const char *path, struct text_buffer *text)
{
	char site[SLOTS_SITE_NAME_MAX + 1];

	text_add_format(text, "{\"formula\":\"%s\",\"definition\":", formula_name(status->formula));
	text_add_json(text, formula_text(status->formula));
	text_add_format(text,
			",\"origin\":\"%s\",\"counted\":%s,\"printed\":%s,\"traced\":%s,\"seen\":%llu,\"matched\":%llu,"
			"\"dropped\":%llu,\"file\":",
			status->origin == FORMULA_OF_CONFIG ? "configuration" : "request",
			formula_is_counted(status->formula) ? "true" : "false", status->printed ? "true" : "false",
			status->traced ? "true" : "false", (unsigned long long)status->seen,
			(unsigned long long)status->matched, (unsigned long long)status->dropped);
	if (status->slot == FORMULA_NO_SLOT) {
		text_add_format(text, "null,\"site\":null}\n");
		return;
	}
	formula_site_name(status, site);
	text_add_json(text, path);
	text_add_format(text, ",\"site\":\"%s\"}\n", site);
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
reply_add_formula_text(const struct formula_status *status, const char *path, struct text_buffer *text)
{
	char site[SLOTS_SITE_NAME_MAX + 1];

	reply_add_definition(formula_text(status->formula), text);
	text_add_format(text, "\n    %s, %s%s%s; seen %llu, matched %llu",
			status->origin == FORMULA_OF_CONFIG ? "configured" : "requested",
			formula_is_counted(status->formula) ? "counted" : "uncounted",
			status->printed ? ", printed" : "", status->traced ? ", traced" : "",
			(unsigned long long)status->seen, (unsigned long long)status->matched);
	if (status->dropped > 0)
		text_add_format(text, ", values dropped %llu", (unsigned long long)status->dropped);
	text_add_format(text, "\n");
	if (status->slot == FORMULA_NO_SLOT) {
		text_add_format(text, "    cannot be traced: there is no file of probe sites\n");
		return;
	}
	formula_site_name(status, site);
	text_add_format(text, "    bpftrace -e 'usdt:");
	text_add_escaped(text, path);
	text_add_format(text, ":netobs:%s { @[probe] = count(); }'\n", site);
}

/* Formulas from number `first` to before `end`. */
static void
reply_add_formulas(const struct query_context *query, bool json, unsigned first, unsigned end, struct text_buffer *text)
{
	workers_pause(query->workers);
	for (unsigned i = first; i < end && i < formula_set_count(query->formulas); i++) {
		struct formula_status status = formula_set_status(query->formulas, i);

		(json ? reply_add_formula_json : reply_add_formula_text)(&status, formula_set_path(query->formulas),
									 text);
	}
	workers_resume(query->workers);
}

/* Formulas in a part; the reply text for one has less than 6 KiB. */
#define REPLY_FORMULAS 8u

static void
reply_formulas(struct control_reply *reply, struct text_buffer *text)
{
	if (!reply->begun)
		text_add_format(text, "ok\n");
	reply->begun = true;
	reply_add_formulas(reply->query, reply->request.json, reply->position, reply->position + REPLY_FORMULAS, text);
	reply->position += REPLY_FORMULAS;
	reply->done = reply->position >= formula_set_count(reply->query->formulas);
}

/* --------------------------------------------------------------------------------------------------------- dispatch */

static void
reply_reload(struct query_context *query, bool json, struct text_buffer *text)
{
	char error[256] = "";

	if (query->reload(query->context, error, sizeof error)) {
		text_add_format(text, json ? "ok\n{\"reloaded\":true}\n" : "ok\nconfiguration reloaded\n");
		return;
	}
	text_add_format(text, "error ");
	text_add_escaped(text, error); /* contains names of files */
	text_add_format(text, "\n");
}

static void
reply_write_single(struct control_reply *reply, struct text_buffer *text)
{
	struct query_context *query = reply->query;
	bool json = reply->request.json;

	reply->done = true;
	if (reply->request.command == REQUEST_RELOAD) {
		reply_reload(query, json, text);
		return;
	}
	text_add_format(text, "ok\n");
	switch (reply->request.command) {
	case REQUEST_STATUS:
		(json ? reply_status_json : reply_status_text)(query, text);
		break;
	case REQUEST_PROBES:
		reply_probes(query, json, text);
		break;
	case REQUEST_INTERFACES:
		reply_interfaces(query, json, text);
		break;
	case REQUEST_DEFINE:
		reply_add_formulas(query, json, formula_set_count(query->formulas) - 1, FORMULAS_MAX, text);
		break;
	case REQUEST_UNDEFINE:
		break;
	case REQUEST_DEBUG:
		reply_debug(&reply->request, text);
		break;
	default:
		reply_counters(query, json, text);
		break;
	}
	if (text->truncated && !json)
		text_add_format(text, "...\n");
}

void
control_reply_write(struct control_reply *reply, struct text_buffer *text)
{
	if (reply->request.command == REQUEST_CONNECTIONS || reply->request.command == REQUEST_CONNECTION)
		control_reply_write_flows(reply, text);
	else if (reply->request.command == REQUEST_FORMULAS)
		reply_formulas(reply, text);
	else
		reply_write_single(reply, text);
}
