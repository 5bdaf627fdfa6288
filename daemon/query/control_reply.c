/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_reply.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log_debug.h"
#include "daemon/record/closed_reply.h"
#include "daemon/stats/counters.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"
#include "probes/site/site_select.h"

/* Most replies about ended connections at the same time, which limits their memory. */
#define CLOSED_REPLIES_MAX 8u

/* ----------------------------------------------------------------------------------------------------------- status */

static unsigned
reply_count_enabled(void)
{
	unsigned enabled = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		enabled += semaphores_read(i) != 0;
	return enabled;
}

/* Adds a line of times of batches, of the last minute. */
static void
reply_add_times(struct text_buffer *text, const char *what, const struct time_histogram *times)
{
	double median = (double)time_histogram_percentile(times, 50) / 1e6;
	double high = (double)time_histogram_percentile(times, 99) / 1e6;

	if (time_histogram_samples(times) > 0)
		text_add_format(text,
				"%-12s median %.3f ms, 99th percentile %.3f ms, worst %.3f ms in the last minute\n",
				what, median, high, (double)times->largest_ns / 1e6);
}

static void
reply_add_times_json(struct text_buffer *text, const char *key, const struct time_histogram *times)
{
	unsigned long long median = time_histogram_percentile(times, 50), high = time_histogram_percentile(times, 99);

	text_add_format(text, ",\"%s\":{\"p50\":%llu,\"p99\":%llu,\"max\":%llu}", key, median, high,
			(unsigned long long)times->largest_ns);
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
	reply_add_times(text, "lag", &totals.batches_of_minute.lag);
	reply_add_times(text, "batch time", &totals.batches_of_minute.duration);
	text_add_format(text, "connections  %llu of at most %u\n", (unsigned long long)flows->flows,
			(unsigned)query->config->flow_limits.flows);
	if (query->closed != NULL)
		text_add_format(text, "ended        %llu, of which the last %u are kept\n",
				(unsigned long long)(totals.closed.now + totals.closed.overwritten),
				(unsigned)record_ring_capacity(query->closed));
	text_add_format(text, "workers      %u\n", query->workers->count);
	if (query->config->flight_memory != 0)
		text_add_format(text, "flight       %llu MiB, %.1f s, %llu frames\n",
				(unsigned long long)query->config->flight_memory >> 20,
				(double)totals.flight_span_us / 1e6, (unsigned long long)totals.flight.frames_now);
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
	text_add_format(text, ",\"flight_memory\":%llu,\"flight_span_us\":%llu,\"flight_frames\":%llu",
			(unsigned long long)query->config->flight_memory, (unsigned long long)totals.flight_span_us,
			(unsigned long long)totals.flight.frames_now);
	text_add_format(text, ",\"closed_connections\":%llu,\"max_closed_connections\":%u",
			(unsigned long long)totals.closed.now, (unsigned)query->config->closed_connections);
	reply_add_times_json(text, "lag_ns", &totals.batches_of_minute.lag);
	reply_add_times_json(text, "batch_ns", &totals.batches_of_minute.duration);
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
		unsigned enabled = site_count_enablers(semaphores_read(i), manifest_sites(i));
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

/* ----------------------------------------------------------------------------------------------- ended connections */

bool
control_reply_begin_closed(struct control_reply *reply, char *error, size_t size)
{
	struct query_context *query = reply->query;
	const struct control_request *from = &reply->request;
	struct closed_request request = {.last_ns = from->last_ns,
					 .fields = from->fields,
					 .expression = from->expression,
					 .sort = from->sort,
					 .limit = from->limit,
					 .json = from->json,
					 .notes = from->notes,
					 .all_owners = reply->all_owners,
					 .uid = reply->uid};

	if (query->closed == NULL)
		snprintf(error, size,
			 "netobsd keeps no connections that have ended: start it with --closed-connections=NUMBER");
	else if (query->closed_replies == CLOSED_REPLIES_MAX)
		snprintf(error, size, "%u other replies about ended connections are in progress", CLOSED_REPLIES_MAX);
	else
		reply->closed = closed_reply_new(query->closed, &request, error, size);
	query->closed_replies += reply->closed != NULL;
	return reply->closed != NULL;
}

static void
control_reply_write_closed(struct control_reply *reply, struct text_buffer *text)
{
	if (!reply->begun)
		text_add_format(text, "ok\n");
	reply->begun = true;
	reply->done = !closed_reply_write(reply->closed, text);
}

void
control_reply_end_closed(struct control_reply *reply)
{
	reply->query->closed_replies -= reply->closed != NULL;
	closed_reply_free(reply->closed);
	reply->closed = NULL;
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
	else if (reply->request.command == REQUEST_FORMULAS || reply->request.command == REQUEST_DEFINE)
		control_reply_write_formulas(reply, text);
	else if (reply->request.command == REQUEST_SITES)
		control_reply_write_sites(reply, text);
	else if (reply->request.command == REQUEST_CLOSED)
		control_reply_write_closed(reply, text);
	else if (reply->request.command == REQUEST_WRITE)
		control_reply_write_frames(reply, text);
	else
		reply_write_single(reply, text);
}
