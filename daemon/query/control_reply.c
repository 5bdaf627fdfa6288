/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_reply.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
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
reply_add_times_json(struct json *json, const char *key, const struct time_histogram *times)
{
	json_begin_object(json, key);
	json_add_unsigned(json, "p50", time_histogram_percentile(times, 50));
	json_add_unsigned(json, "p99", time_histogram_percentile(times, 99));
	json_add_unsigned(json, "max", times->largest_ns);
	json_end_object(json);
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
	json_add_unsigned(&json, "max_closed_connections", query->config->closed_connections);
	reply_add_times_json(&json, "lag_ns", &totals.batches_of_minute.lag);
	reply_add_times_json(&json, "batch_ns", &totals.batches_of_minute.duration);
	json_add_unsigned(&json, "memory_resident", stats_resident_memory());
	json_add_unsigned(&json, "workers", query->workers->count);
	json_end_line(&json);
}

/* ----------------------------------------------------------------------------------------------------------- probes */

/* The text reply lists only probes that are enabled or have fired; JSON lists all. */
static void
reply_probes(struct query_context *query, bool as_json, struct text_buffer *text)
{
	struct json json = text_json(text);
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	if (!as_json)
		text_add_format(text, "%-26s %8s %20s\n", "PROBE", "ENABLED", "FIRED");
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		unsigned enabled = site_count_enablers(semaphores_read(i), manifest_sites(i));
		unsigned long long fired = totals.fired[i];

		if (as_json) {
			json_begin_object(&json, NULL);
			json_add_string(&json, "probe", manifest_probes[i].name);
			json_add_unsigned(&json, "enabled", enabled);
			json_add_unsigned(&json, "fired", fired);
			json_end_line(&json);
		} else if (enabled > 0 || fired > 0) {
			text_add_format(text, "%-26s %8u %20llu\n", manifest_probes[i].name, enabled, fired);
		}
	}
}

/* ------------------------------------------------------------------------------------------------------- interfaces */

struct reply_table {
	bool as_json;
	struct text_buffer *text;
	struct json json; /* to `text` */
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
	struct reply_table *table = context;
	struct text_buffer *text = table->text;
	struct json *json = &table->json;

	if (table->as_json) {
		json_begin_object(json, NULL);
		json_add_string(json, "interface", observed->interface->name);
		json_add_unsigned(json, "ifindex", observed->interface->ifindex);
		json_add_string(json, "state", interface_state_names[observed->state]);
		json_add_string(json, "link_type", link_type_name(observed->link_type));
		json_add_unsigned(json, "received", observed->received);
		json_add_unsigned(json, "dropped", observed->dropped);
		json_add_unsigned(json, "interface_dropped", observed->interface_dropped);
		json_add_unsigned(json, "lost", observed->times_removed);
		json_end_line(json);
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
	struct reply_table table = {.as_json = json, .text = text, .json = text_json(text)};

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

	char full[JSON_NAME_MAX + 1];

	snprintf(full, sizeof full, "%s%s", group, name);
	if (table->as_json)
		json_add_unsigned(&table->json, full, value);
	else
		text_add_format(table->text, "%s%-*s %20llu\n", group, 40 - (int)strlen(group), name,
				(unsigned long long)value);
}

static void
reply_counters(struct query_context *query, bool json, struct text_buffer *text)
{
	struct reply_table table = {.as_json = json, .text = text, .json = text_json(text)};
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	if (json)
		json_begin_object(&table.json, NULL);
	counters_visit(&totals, reply_add_counter, &table);
	if (json)
		json_end_line(&table.json);
}

/* ------------------------------------------------------------------------------------------------------------ debug */

static void
reply_debug(const struct control_request *request, struct text_buffer *text)
{
	struct json json = text_json(text);

	if (request->set_debug)
		log_debug_enable(request->debug_topics);
	if (!request->json)
		text_add_format(text, "%-10s %-5s %s\n", "TOPIC", "STATE", "MESSAGES");
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++) {
		bool on = log_debug_is_on((enum debug_topic)i);

		if (request->json) {
			json_begin_object(&json, NULL);
			json_add_string(&json, "topic", debug_topics[i].name);
			json_add_bool(&json, "on", on);
			json_end_line(&json);
		} else {
			text_add_format(text, "%-10s %-5s %s\n", debug_topics[i].name, on ? "on" : "off",
					debug_topics[i].help);
		}
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
reply_reload(struct query_context *query, bool as_json, struct text_buffer *text)
{
	struct json json = text_json(text);
	char error[256] = "";

	if (query->reload(query->context, error, sizeof error)) {
		text_add_format(text, as_json ? "ok\n" : "ok\nconfiguration reloaded\n");
		if (as_json) {
			json_begin_object(&json, NULL);
			json_add_bool(&json, "reloaded", true);
			json_end_line(&json);
		}
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
