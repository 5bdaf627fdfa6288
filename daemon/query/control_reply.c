/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control_reply.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/site_select.h"

/* ----------------------------------------------------------------------------------------------------------- status */

static unsigned
tracers(void)
{
	unsigned most = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (SEMAPHORE_NOW(probe_semaphores[i]) > most)
			most = SEMAPHORE_NOW(probe_semaphores[i]);
	return site_tracers(most);
}

static void
status_text(struct insight *insight, struct text *text)
{
	struct insight_memory memory = insight_memory(insight->config);
	struct insight_totals totals;
	const struct observe_counters *seen = &totals.seen;
	const struct input_counters *taken = &totals.taken;
	const struct flow_counters *flows = &totals.flows;
	const struct build_id *build = &insight->build;

	insight_totals(insight->workers, &totals);
	text_add(text, "netobsd %s, pid %ld, up %lld s\n", PACKAGE_VERSION, (long)getpid(),
		 (long long)(time(NULL) - insight->started));
	text_add(text, "binary       ");
	text_add_plain(text, build->path);
	text_add(text, ", inode %llu, build id %s\n", (unsigned long long)build->inode,
		 build->hex[0] != '\0' ? build->hex : "none");
	if (build_id_is_replaced(build))
		text_add(text, "%-12s the binary has been replaced on disk: attach as below, or restart netobsd\n", "");
	text_add(text, "%-12s bpftrace -e 'usdt:/proc/%ld/exe:netobs:tcp__state__change { @[probe] = count(); }'\n",
		 "attach", (long)getpid());
	text_add(text, "tracers      at most %u on one probe; probe sites: %s\n", tracers(), site_word(site_chosen()));
	text_add(text, "frames       %llu, %llu bytes; received %llu, dropped %llu, dropped by interfaces %llu\n",
		 (unsigned long long)seen->frames, (unsigned long long)seen->bytes,
		 (unsigned long long)taken->received, (unsigned long long)taken->dropped,
		 (unsigned long long)taken->interface_dropped);
	text_add(text, "connections  %llu of at most %u\n", (unsigned long long)flows->flows,
		 (unsigned)insight->config->limits.flows);
	text_add(text, "workers      %u\n", insight->workers->count);
	text_add(text, "memory       %llu MiB reserved, %llu MiB in use\n",
		 (unsigned long long)insight_reserved(&memory) >> 20,
		 (unsigned long long)insight_resident() >> 20);
}

static void
status_json(struct insight *insight, struct text *text)
{
	struct insight_memory memory = insight_memory(insight->config);
	struct insight_totals totals;
	const struct observe_counters *seen = &totals.seen;
	const struct input_counters *taken = &totals.taken;
	const struct flow_counters *flows = &totals.flows;

	insight_totals(insight->workers, &totals);
	text_add(text, "{\"version\":\"%s\",\"pid\":%ld,\"started\":%lld,\"build_id\":\"%s\",\"binary\":",
		 PACKAGE_VERSION, (long)getpid(), (long long)insight->started, insight->build.hex);
	text_add_json(text, insight->build.path);
	text_add(text, ",\"inode\":%llu,\"replaced\":%s,\"attach\":\"usdt:/proc/%ld/exe:netobs:\"",
		 (unsigned long long)insight->build.inode, build_id_is_replaced(&insight->build) ? "true" : "false",
		 (long)getpid());
	text_add(text, ",\"tracers\":%u,\"probe_site\":\"%s\"", tracers(), site_word(site_chosen()));
	text_add(text, ",\"frames\":%llu,\"bytes\":%llu,\"received\":%llu,\"dropped\":%llu",
		 (unsigned long long)seen->frames, (unsigned long long)seen->bytes,
		 (unsigned long long)taken->received, (unsigned long long)taken->dropped);
	text_add(text, ",\"interface_dropped\":%llu,\"connections\":%llu,\"max_flows\":%u,\"memory_reserved\":%llu",
		 (unsigned long long)taken->interface_dropped, (unsigned long long)flows->flows,
		 (unsigned)insight->config->limits.flows, (unsigned long long)insight_reserved(&memory));
	text_add(text, ",\"memory_resident\":%llu,\"workers\":%u}\n", (unsigned long long)insight_resident(),
		 insight->workers->count);
}

/* ----------------------------------------------------------------------------------------------------------- probes */

/* The text answer lists only probes that are enabled or have fired; JSON lists all. */
static void
probes(struct insight *insight, bool json, struct text *text)
{
	struct insight_totals totals;

	insight_totals(insight->workers, &totals);
	if (!json)
		text_add(text, "%-26s %8s %20s\n", "PROBE", "ENABLED", "FIRED");
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		unsigned enabled = site_tracers(SEMAPHORE_NOW(probe_semaphores[i]));
		unsigned long long fired = totals.fired[i];

		if (json)
			text_add(text, "{\"probe\":\"%s\",\"enabled\":%u,\"fired\":%llu}\n", manifest_probes[i].name,
				 enabled, fired);
		else if (enabled > 0 || fired > 0)
			text_add(text, "%-26s %8u %20llu\n", manifest_probes[i].name, enabled, fired);
	}
}

/* ------------------------------------------------------------------------------------------------------- interfaces */

struct table {
	bool json;
	struct text *text;
	bool first;
};

static const char *const state_words[INTERFACE_STATES] = {
    [INTERFACE_UP] = "up", [INTERFACE_DOWN] = "down", [INTERFACE_LOST] = "lost", [INTERFACE_REFUSED] = "refused"};

static const char *
link_word(int link_type)
{
	const char *word = pcap_datalink_val_to_name(link_type);

	return word != NULL ? word : "?";
}

static void
add_interface(void *context, const struct input_interface *port)
{
	const struct table *table = context;
	struct text *text = table->text;

	if (table->json) {
		text_add(text, "{\"interface\":");
		text_add_json(text, port->interface->name);
		text_add(text,
			 ",\"ifindex\":%u,\"state\":\"%s\",\"link_type\":\"%s\",\"received\":%llu,\"dropped\":%llu,"
			 "\"interface_dropped\":%llu,\"lost\":%llu}\n",
			 (unsigned)port->interface->ifindex, state_words[port->state], link_word(port->link_type),
			 (unsigned long long)port->received, (unsigned long long)port->dropped,
			 (unsigned long long)port->interface_dropped, (unsigned long long)port->losses);
		return;
	}
	text_add_plain(text, port->interface->name);
	text_add(text, "%*s %6u %-8s %-14s %14llu %10llu %10llu %6llu\n",
		 (int)(sizeof port->interface->name - strlen(port->interface->name)), "",
		 (unsigned)port->interface->ifindex, state_words[port->state], link_word(port->link_type),
		 (unsigned long long)port->received, (unsigned long long)port->dropped,
		 (unsigned long long)port->interface_dropped, (unsigned long long)port->losses);
}

static void
interfaces(struct insight *insight, bool json, struct text *text)
{
	struct table table = {.json = json, .text = text};

	if (!json)
		text_add(text, "%-16s %6s %-8s %-14s %14s %10s %10s %6s\n", "INTERFACE", "INDEX", "STATE", "LINK",
			 "RECEIVED", "DROPPED", "IF-DROPPED", "REMOVED");
	insight_interfaces(insight->workers, add_interface, &table);
}

/* --------------------------------------------------------------------------------------------------------- counters */

static void
add_counter(void *context, const char *group, const char *name, uint64_t value)
{
	struct table *table = context;

	if (table->json)
		text_add(table->text, "%s\"%s%s\":%llu", table->first ? "{" : ",", group, name,
			 (unsigned long long)value);
	else
		text_add(table->text, "%s%-*s %20llu\n", group, 40 - (int)strlen(group), name,
			 (unsigned long long)value);
	table->first = false;
}

static void
counters(struct insight *insight, bool json, struct text *text)
{
	struct table table = {.json = json, .text = text, .first = true};

	insight_counters(insight->workers, add_counter, &table);
	if (json)
		text_add(text, "}\n");
}

/* --------------------------------------------------------------------------------------------------------- dispatch */

static void
reload(struct insight *insight, bool json, struct text *text)
{
	char why[256] = "";

	if (insight->reload(insight->context, why, sizeof why))
		text_add(text, json ? "ok\n{\"reloaded\":true}\n" : "ok\nconfiguration reloaded\n");
	else
		text_add(text, "error %s\n", why);
}

static void
whole(struct answer *answer, struct text *text)
{
	struct insight *insight = answer->insight;
	bool json = answer->request.json;

	answer->done = true;
	if (answer->request.verb == REQUEST_RELOAD) {
		reload(insight, json, text);
		return;
	}
	text_add(text, "ok\n");
	switch (answer->request.verb) {
	case REQUEST_STATUS:
		(json ? status_json : status_text)(insight, text);
		break;
	case REQUEST_PROBES:
		probes(insight, json, text);
		break;
	case REQUEST_INTERFACES:
		interfaces(insight, json, text);
		break;
	default:
		counters(insight, json, text);
		break;
	}
	if (text->cut && !json)
		text_add(text, "...\n");
}

void
answer_more(struct answer *answer, struct text *text)
{
	if (answer->request.verb == REQUEST_CONNECTIONS || answer->request.verb == REQUEST_CONNECTION)
		answer_flows(answer, text);
	else
		whole(answer, text);
}
