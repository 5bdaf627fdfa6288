/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/metrics/metrics.h"

#include <stdio.h>
#include <string.h>

#include "daemon/stats/counters.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"
#include "probes/site/site_select.h"

static void
metrics_add_family(struct text_buffer *text, const char *name, const char *type, const char *help)
{
	text_add_format(text, "# HELP netobs_%s %s\n# TYPE netobs_%s %s\n", name, help, name, type);
}

static void
metrics_add_sample(struct text_buffer *text, const char *name, uint64_t value)
{
	text_add_format(text, "netobs_%s %llu\n", name, (unsigned long long)value);
}

/* A value in microseconds. */
static void
metrics_add_seconds(struct text_buffer *text, const char *name, uint64_t us)
{
	text_add_format(text, "netobs_%s %llu.%06u\n", name, (unsigned long long)(us / 1000000),
			(unsigned)(us % 1000000));
}

/* Label values are constants of netobsd and need no escaping. */
static void
metrics_add_labelled(struct text_buffer *text, const char *name, const char *label, const char *word, uint64_t value)
{
	text_add_format(text, "netobs_%s{%s=\"%s\"} %llu\n", name, label, word, (unsigned long long)value);
}

static void
metrics_add_gauge(struct text_buffer *text, const char *name, const char *help, uint64_t value)
{
	metrics_add_family(text, name, "gauge", help);
	metrics_add_sample(text, name, value);
}

static void
metrics_add_build(const struct query_context *query, struct text_buffer *text)
{
	metrics_add_family(text, "build_info", "gauge",
			   "Version and build id of netobsd, as labels; the value is always 1.");
	text_add_format(text, "netobs_build_info{version=\"%s\",build_id=\"%s\"} 1\n", PACKAGE_VERSION,
			query->build.hex);
	metrics_add_gauge(text, "start_time_seconds", "Start time of netobsd, in seconds since the epoch.",
			  (uint64_t)query->started);
}

static const char *const metric_types[] = {
    [COUNTER_TOTAL] = "counter",
    [COUNTER_GAUGE] = "gauge",
    [COUNTER_GAUGE_US] = "gauge",
    [COUNTER_HISTOGRAM] = "histogram",
};

/* The buckets of a histogram are cumulative in the metrics. */
static void
metrics_add_histogram(struct text_buffer *text, const struct counter_row *row, const struct stats_totals *totals)
{
	const struct record_histogram *histogram = counter_row_histogram(row, totals);
	uint64_t count = 0;
	char name[64];

	metrics_add_family(text, row->metric, metric_types[row->type], row->metric_help);
	for (unsigned i = 0; i < RECORD_BUCKETS; i++) {
		count += histogram->count[i];
		text_add_format(text, "netobs_%s_bucket{le=\"%g\"} %llu\n", row->metric,
				record_bucket_bounds_us[i] / 1e6, (unsigned long long)count);
	}
	count += histogram->count[RECORD_BUCKETS];
	text_add_format(text, "netobs_%s_bucket{le=\"+Inf\"} %llu\n", row->metric, (unsigned long long)count);
	snprintf(name, sizeof name, "%s_sum", row->metric);
	metrics_add_seconds(text, name, histogram->sum_us);
	text_add_format(text, "netobs_%s_count %llu\n", row->metric, (unsigned long long)count);
}

/* Bounds of the metrics: powers of four from 4 us to 17 s. */
#define BATCH_FIRST_BOUND_NS (UINT64_C(1) << 12)
#define BATCH_LAST_BOUND_NS  (UINT64_C(1) << 34)

static void
metrics_add_batch_times(struct text_buffer *text, const char *name, const char *help,
			const struct time_histogram *times)
{
	metrics_add_family(text, name, "histogram", help);
	for (uint64_t bound = BATCH_FIRST_BOUND_NS; bound <= BATCH_LAST_BOUND_NS; bound *= 4)
		text_add_format(text, "netobs_%s_bucket{le=\"%.9g\"} %llu\n", name, (double)bound / 1e9,
				(unsigned long long)time_histogram_samples_below(times, bound));
	text_add_format(text, "netobs_%s_bucket{le=\"+Inf\"} %llu\nnetobs_%s_sum %llu.%09u\nnetobs_%s_count %llu\n",
			name, (unsigned long long)time_histogram_samples(times), name,
			(unsigned long long)(times->sum_ns / 1000000000), (unsigned)(times->sum_ns % 1000000000), name,
			(unsigned long long)time_histogram_samples(times));
}

/* A metric in progress.  Consecutive rows of one metric have one help text, that of the first row, and one type. */
struct metric_family {
	const struct counter_row *row; /* the first row, NULL before all */
	bool begun;		       /* its header is written: at least one of its counters is exported */
};

static void
metrics_add_counter(struct text_buffer *text, struct metric_family *family, const struct counter_row *row,
		    unsigned index, uint64_t value)
{
	const struct counter_row *first = family->row;

	if (!family->begun)
		metrics_add_family(text, first->metric, metric_types[first->type],
				   first->metric_help != NULL ? first->metric_help : first->help);
	family->begun = true;
	if (row->type == COUNTER_GAUGE_US)
		metrics_add_seconds(text, row->metric, value);
	else if (row->label == NULL)
		metrics_add_sample(text, row->metric, value);
	else
		metrics_add_labelled(text, row->metric, row->label,
				     row->label_value != NULL ? row->label_value : counter_row_name(row, index), value);
}

static void
metrics_add_counters(const struct query_context *query, struct text_buffer *text, const struct stats_totals *totals)
{
	struct metric_family family = {0};

	for (size_t i = 0; i < counters_table_rows; i++) {
		const struct counter_row *row = &counters_table[i];

		if (row->metric == NULL)
			continue;
		if (row->type == COUNTER_HISTOGRAM) {
			metrics_add_histogram(text, row, totals);
			continue;
		}
		if (family.row == NULL || strcmp(row->metric, family.row->metric) != 0)
			family = (struct metric_family){.row = row};
		for (unsigned index = row->first; index < counter_row_end(row); index++)
			if (counter_row_is_exported(row, index, totals, query->config))
				metrics_add_counter(text, &family, row, index, counter_row_value(row, index, totals));
	}
}

/* Whether a name is printable ASCII, and not like one that has escapes. */
static bool
metrics_name_is_plain(const char *name)
{
	const char *at = name;

	while (*at >= ' ' && *at <= '~')
		at++;
	return *at == '\0' && strstr(name, "\\x") == NULL;
}

/* Most bytes of the sample of an interface. */
#define INTERFACE_SAMPLE_MAX 256u

/* The interfaces of a part of the page. */
struct interfaces_part {
	struct text_buffer *text;
	uint32_t position; /* number of the next interface that is written */
	uint32_t visited;
};

/* Interface names are arbitrary: one that is not plain is written as netobsctl prints it, so that no two names have the
 * same label.  Then they are escaped as the format requires. */
static void
metrics_add_interface(void *context, const struct input_interface *observed)
{
	struct interfaces_part *part = context;
	struct text_buffer *text = part->text;
	char bytes[4 * sizeof observed->interface->name + 1] = "";
	struct text_buffer escaped = {.bytes = bytes, .size = sizeof bytes};
	const char *name = observed->interface->name;

	if (part->visited++ != part->position || text_space_left(text) < INTERFACE_SAMPLE_MAX)
		return;
	part->position++;
	if (!metrics_name_is_plain(name)) {
		text_add_escaped(&escaped, name);
		name = bytes;
	}
	text_add_format(text, "netobs_interface_up{interface=\"");
	for (const char *at = name; *at != '\0'; at++)
		text_add_format(text, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
	text_add_format(text, "\"} %d\n", observed->state == INTERFACE_UP);
}

static void
metrics_add_memory(const struct query_context *query, struct text_buffer *text)
{
	struct stats_memory memory = stats_reserved_memory(query->config);

	metrics_add_family(text, "memory_reserved_bytes", "gauge",
			   "Address space reserved at the start: the most memory that it takes.");
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "connections", memory.flows);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "records", memory.records + memory.closed);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "fragments", memory.fragments);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "applications", memory.applications);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "owners", memory.owner_lookup);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "flight", memory.flight);
	metrics_add_gauge(text, "memory_resident_bytes", "Resident memory of the process.", stats_resident_memory());
}

/* Probes that have been enabled: the others are 0. */
static void
metrics_add_enabled(struct text_buffer *text, const struct stats_totals *totals)
{
	bool begun = false;

	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		unsigned enabled = site_count_enablers(semaphores_read(i), manifest_sites(i));

		if (enabled == 0 && totals->fired[i] == 0)
			continue;
		if (!begun)
			metrics_add_family(text, "probe_enabled", "gauge",
					   "0 if the probe is not enabled; all tracers that use uprobes count as one, "
					   "others and --print as one each.");
		begun = true;
		metrics_add_labelled(text, "probe_enabled", "probe", manifest_probes[i].name, enabled);
	}
}

/* Names of formulas need no escaping. */
static void
metrics_add_formula_family(const struct query_context *query, struct text_buffer *text, const char *name,
			   const char *help, size_t offset)
{
	metrics_add_family(text, name, "counter", help);
	for (unsigned i = 0; i < formula_set_count(query->formulas); i++) {
		struct formula_status status = formula_set_status(query->formulas, i);

		metrics_add_labelled(text, name, "name", formula_name(status.formula),
				     *(const uint64_t *)(const void *)((const char *)&status + offset));
	}
}

static void
metrics_add_formulas(const struct query_context *query, struct text_buffer *text)
{
	if (query->formulas == NULL || formula_set_count(query->formulas) == 0)
		return;
	workers_pause(query->workers);
	metrics_add_formula_family(query, text, "formula_total", "Firings of formulas, see netobs(7).",
				   offsetof(struct formula_status, matched));
	metrics_add_formula_family(query, text, "formula_seen_total", "Firings for which a formula was evaluated.",
				   offsetof(struct formula_status, seen));
	metrics_add_formula_family(query, text, "formula_dropped_values_total",
				   "Values that the threshold or wait of a formula dropped because its table was full.",
				   offsetof(struct formula_status, dropped));
	workers_resume(query->workers);
}

void
metrics_write_page(struct query_context *query, const struct state_counter *counters, struct text_buffer *text)
{
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	stats_add_states(query->workers, counters, &totals);
	metrics_add_build(query, text);
	metrics_add_counters(query, text, &totals);
	metrics_add_gauge(text, "connections_limit", "Maximum number of connections and UDP streams (max-flows).",
			  query->config->flow_limits.flows);
	metrics_add_batch_times(text, "batch_lag_seconds",
				"Time from the time stamp of the oldest frame of a batch until the batch is done.",
				&totals.batches.lag);
	metrics_add_batch_times(text, "batch_duration_seconds", "Time that a batch of frames takes.",
				&totals.batches.duration);
	metrics_add_memory(query, text);
	metrics_add_enabled(text, &totals);
	metrics_add_formulas(query, text);
}

bool
metrics_write_interfaces(struct query_context *query, uint32_t *position, struct text_buffer *text)
{
	struct interfaces_part part = {.text = text, .position = *position};

	if (*position == 0)
		metrics_add_family(text, "interface_up", "gauge", "1 if the observed interface is up, else 0.");
	stats_visit_interfaces(query->workers, metrics_add_interface, &part);
	*position = part.position;
	return part.position < part.visited;
}
