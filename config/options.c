/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "probes/nearest.h"

#define FIELD(member) .config_offset = offsetof(struct config, member)
#define SECONDS(least, most) .quantity = {DIMENSION_TIME, UNITS_SECOND, least, most, false}
#define LIMIT_SECONDS	     .argument = "SECONDS", SECONDS(UNITS_SECOND / 1000, UNITS_YEAR)

/* clang-format off */
const struct option_row options_table[] = {
	{.name = "interface", .short_name = 'i', .group = GROUP_INPUT, .scope = OPTION_FOR_LIVE,
	 .kind = &value_string_list,
	 .argument = "IFACE", FIELD(interface_names),
	 .source = OPTION_ANYWHERE,
	 .help = "interface to observe, or \"any\" for all; may be repeated"},
	{.name = "read", .short_name = 'r', .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_string_list,
	 .argument = "FILE", FIELD(capture_paths),
	 .help = "capture to replay, \"-\" is standard input; several are merged by time"},
	{.name = "pace", .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_replay_speed,
	 .argument = "SPEED", .optional = true, .min = 1e-6, .max = 1000000,
	 .help = "replay at SPEED times the speed of the capture (1 if omitted); default: as fast as possible"},
	{.name = "from", .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_time,
	 .argument = "TIME", FIELD(from),
	 .help = "replay the packets from TIME on (2026-11-22T19:40:00Z, or seconds since 1970)"},
	{.name = "to", .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_time,
	 .argument = "TIME", FIELD(to),
	 .help = "replay the packets before TIME"},
	{.name = "lead-in", .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_seconds,
	 .argument = "SECONDS", SECONDS(0, UNITS_YEAR), FIELD(lead_in),
	 .help = "follow connections from SECONDS before --from on"},
	{.name = "wait-tracer", .group = GROUP_INPUT, .scope = OPTION_FOR_ALL, .kind = &value_wait_tracer,
	 .argument = "SECONDS", .optional = true, SECONDS(UNITS_SECOND / 1000, UNITS_YEAR),
	 .help = "start reading when a tracer has enabled its probes, or after SECONDS"},
	{.name = "wait-probes", .group = GROUP_INPUT, .scope = OPTION_FOR_ALL, .kind = &value_wait_probes,
	 .argument = "PROBE,...",
	 .help = "start reading when a tracer has enabled these probes (wildcards such as tcp-*)"},
	{.name = "on-demand", .group = GROUP_INPUT, .scope = OPTION_FOR_LIVE, .kind = &value_flag, FIELD(on_demand),
	 .source = OPTION_ANYWHERE,
	 .help = "capture only while a tracer is attached"},
	{.name = "snapshot-length", .short_name = 's', .group = GROUP_INPUT, .scope = OPTION_FOR_LIVE,
	 .kind = &value_size32,
	 .argument = "BYTES", .quantity = {DIMENSION_SIZE, 1, 0, 262144, false}, FIELD(snaplen),
	 .source = OPTION_ANYWHERE,
	 .help = "bytes to capture of each frame; 0 means the maximum"},
	{.name = "buffer-size", .short_name = 'B', .group = GROUP_INPUT, .scope = OPTION_FOR_LIVE,
	 .kind = &value_size32,
	 .argument = "KIB", .quantity = {DIMENSION_SIZE, UNITS_KIB, UNITS_KIB, 2097151 * UNITS_KIB, false},
	 FIELD(kernel_buffer),
	 .source = OPTION_ANYWHERE,
	 .help = "kernel buffer of each interface and worker in KiB; default 32768"},
	{.name = "workers", .group = GROUP_INPUT, .scope = OPTION_FOR_ALL, .kind = &value_uint32,
	 .argument = "NUMBER", .min = 1, .max = 64, FIELD(workers),
	 .source = OPTION_ANYWHERE,
	 .help = "threads that share the frames of each interface; for files, one observes and the others decompress"},
	{.name = "promiscuous", .group = GROUP_INPUT, .scope = OPTION_FOR_LIVE, .kind = &value_flag, FIELD(promiscuous),
	 .source = OPTION_ANYWHERE,
	 .help = "also capture frames addressed to other hosts"},
	{.name = "immediate", .group = GROUP_INPUT, .scope = OPTION_FOR_LIVE, .kind = &value_flag, FIELD(immediate),
	 .source = OPTION_ANYWHERE,
	 .help = "deliver each frame immediately, not in batches of a few milliseconds"},

	{.name = "filter", .group = GROUP_INPUT, .scope = OPTION_FOR_ALL, .kind = &value_filter, .argument = "FILTER",
	 .source = OPTION_CONFIG_FILE, .change = OPTION_AT_RELOAD, FIELD(filter),
	 .help = "a pcap-filter(7) expression; frames that do not match are ignored"},

	{.name = "view", .group = GROUP_VIEW, .scope = OPTION_FOR_ALL, .kind = &value_view, .argument = "VIEW",
	 .source = OPTION_ANYWHERE,
	 .help = "fire probes for local endpoints (host), all (both) or each frame once (monitor)"},
	{.name = "local", .group = GROUP_VIEW, .scope = OPTION_FOR_ALL, .kind = &value_prefix, .argument = "PREFIX",
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "addresses that count as local in the host view; may be repeated"},
	{.name = "no-inner", .group = GROUP_VIEW, .scope = OPTION_FOR_ALL, .kind = &value_inverted_flag,
	 FIELD(observe_inner),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "do not fire probes for packets inside tunnels"},
#define APP(symbol, app, ports_help)                                                                              \
	{.name = #app "-port", .group = GROUP_VIEW, .scope = OPTION_FOR_ALL, .kind = &value_ports,                \
	 .argument = "PORT,...", FIELD(app_ports[APP_##symbol]), .source = OPTION_ANYWHERE, .help = ports_help},
#include "apps/app.def"
#undef APP
	{.name = "app-timeout", .group = GROUP_VIEW, .scope = OPTION_FOR_ALL, .kind = &value_seconds,
	 .argument = "SECONDS", SECONDS(UNITS_SECOND / 1000, UNITS_HOUR), FIELD(app_timeout_ns),
	 .source = OPTION_ANYWHERE,
	 .help = "time after which a DNS query counts as not answered"},
	{.name = "ports-only", .group = GROUP_VIEW, .scope = OPTION_FOR_ALL, .kind = &value_flag, FIELD(ports_only),
	 .source = OPTION_ANYWHERE,
	 .help = "know application protocols by their ports only, not by the first bytes of a connection"},

	{.name = "no-owners", .group = GROUP_VIEW, .scope = OPTION_FOR_LIVE, .kind = &value_inverted_flag,
	 FIELD(lookup_owners),
	 .source = OPTION_ANYWHERE,
	 .help = "do not look up the processes that own local sockets"},
	{.name = "all-owners", .group = GROUP_VIEW, .scope = OPTION_FOR_LIVE, .kind = &value_flag,
	 FIELD(lookup_all_users),
	 .source = OPTION_ANYWHERE,
	 .help = "also look up processes of other users; keeps CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"},
	{.name = "wait-owners", .group = GROUP_VIEW, .scope = OPTION_FOR_LIVE, .kind = &value_flag,
	 FIELD(wait_owners),
	 .source = OPTION_ANYWHERE,
	 .help = "wait up to 20 ms for the process of a new connection before its first probe fires"},

	{.name = "print", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_print,
	 .argument = "PROBE,...", .optional = true,
	 .source = OPTION_ANYWHERE,
	 .help = "print firings to standard output: of all probes or of these (wildcards such as tcp-*)"},
	{.name = "print-fields", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_print_fields,
	 .argument = "FIELD,...", FIELD(print_fields),
	 .source = OPTION_ANYWHERE,
	 .needs = {"print"},
	 .help = "print only these fields of a firing, in this order"},
	{.name = "format", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_format, .argument = "FORMAT",
	 .source = OPTION_ANYWHERE,
	 .needs = {"print", "records", "list-probes"},
	 .help = "format of --print, --records and --list-probes: text or json"},
	{.name = "records", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_records,
	 .argument = "FILE", .optional = true, FIELD(records_path),
	 .source = OPTION_ANYWHERE,
	 .help = "write a record of each connection: a table to standard output (-), or JSON lines to FILE"},
	{.name = "records-where", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_record_filter,
	 .argument = "EXPRESSION", FIELD(records_where),
	 .source = OPTION_ANYWHERE,
	 .needs = {"records"},
	 .help = "write only records for which EXPRESSION is true (netobs(7), FORMULAS)"},
	{.name = "records-fields", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_record_fields,
	 .argument = "FIELD,...", FIELD(records_fields),
	 .source = OPTION_ANYWHERE,
	 .needs = {"records"},
	 .help = "write only these fields of connrec_t, in this order"},
	{.name = "records-sort", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_record_order,
	 .argument = "FIELD", FIELD(records_sort),
	 .needs = {"records"},
	 .help = "write records at the end, sorted by FIELD, large numbers first; -FIELD reverses the order"},
	{.name = "records-limit", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_uint32,
	 .argument = "NUMBER", .min = 1, .max = 4294967295.0, FIELD(records_limit),
	 .needs = {"records"},
	 .help = "write at most the first NUMBER records of the order, at the end"},
	{.name = "records-services", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_flag,
	 FIELD(records_services),
	 .needs = {"records"},
	 .help = "write in place of records, at the end, a table of the services of these connections"},
	{.name = "formula", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_formula,
	 .argument = "DEFINITION", FIELD(formulas),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "define a probe, NAME = PROBE where EXPRESSION (netobs(7), FORMULAS); may be repeated"},
	{.name = "formula-file", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_string,
	 .argument = "PATH", FIELD(formula_file),
	 .source = OPTION_ANYWHERE,
	 .help = "file with the probe sites of formulas, for tracers; default: a temporary file"},
	{.name = "active-records", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_minutes,
	 .argument = "MINUTES", .optional = true,
	 .quantity = {DIMENSION_TIME, UNITS_MINUTE, UNITS_SECOND, UNITS_YEAR, true}, FIELD(active_records_ns),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "fire connection-active for each open connection every MINUTES (5 if omitted; also 90s, 1h); "
		 "0: never"},
	{.name = "closed-connections", .group = GROUP_OUTPUT, .scope = OPTION_FOR_LIVE, .kind = &value_uint32,
	 .argument = "NUMBER", .min = 0, .max = 10000000, FIELD(closed_connections),
	 .source = OPTION_ANYWHERE,
	 .help = "keep the records of the last NUMBER connections that have ended, for netobsctl"},
	{.name = "flight-memory", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_size,
	 .argument = "SIZE", .quantity = {DIMENSION_SIZE, 1, 1048576, 68719476736, true}, FIELD(flight_memory),
	 .source = OPTION_ANYWHERE,
	 .help = "keep the latest frames in SIZE of memory (64M, 1G), for netobsctl write; 0: no frames"},
	{.name = "flight-snap", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_size32,
	 .argument = "BYTES", .quantity = {DIMENSION_SIZE, 1, 0, 262144, false}, FIELD(flight_snap),
	 .source = OPTION_ANYWHERE,
	 .needs = {"flight-memory"},
	 .help = "keep at most BYTES of each frame; 0: all that are captured"},
	{.name = "flight-bytes", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_size,
	 .argument = "SIZE", .quantity = {DIMENSION_SIZE, 1, 1, 1125899906842624, true}, FIELD(flight_bytes),
	 .source = OPTION_ANYWHERE,
	 .needs = {"flight-memory"},
	 .help = "keep the first SIZE of each direction of a connection, then only frames with events; 0: no limit"},
	{.name = "write", .group = GROUP_OUTPUT, .scope = OPTION_FOR_FILES, .kind = &value_write,
	 .argument = "NAME=FILE", FIELD(writes),
	 .help = "write the whole connections for which the formula or probe NAME fires to the capture FILE; may be "
		 "repeated"},
	{.name = "write-format", .group = GROUP_OUTPUT, .scope = OPTION_FOR_FILES, .kind = &value_capture_format,
	 .argument = "FORMAT", FIELD(write_format),
	 .help = "format of the captures of --write: pcapng (default), pcap or snoop"},
	{.name = "list-probes", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_flag, FIELD(list_probes),
	 .help = "list every probe with its arguments and their fields, and exit"},
	{.name = "engine", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_flag, FIELD(list_engine),
	 .help = "--list-probes lists the probes of netobsd itself, which may change"},
	{.name = "summary", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_flag, FIELD(summary),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "counters to standard error at the end (SIGUSR1: at any time)"},
	{.name = "strict", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_flag, FIELD(strict),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "exit with status 3 if the kernel or an interface dropped frames"},

	{.name = "max-flows", .group = GROUP_LIMITS, .scope = OPTION_FOR_ALL, .kind = &value_uint32,
	 .argument = "NUMBER", .min = 16, .max = 100000000, FIELD(flow_limits.flows),
	 .source = OPTION_ANYWHERE,
	 .help = "connections and UDP streams tracked at once"},
	{.name = "connect-timeout", .group = GROUP_LIMITS, .scope = OPTION_FOR_ALL, .kind = &value_seconds,
	 LIMIT_SECONDS, FIELD(flow_limits.tcp_connect_ns),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "give up a connection attempt whose SYN is unanswered after SECONDS"},
	{.name = "time-wait", .group = GROUP_LIMITS, .scope = OPTION_FOR_ALL, .kind = &value_seconds,
	 LIMIT_SECONDS, FIELD(flow_limits.tcp_time_wait_ns),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "keep an endpoint in TIME_WAIT for SECONDS"},
	{.name = "tcp-idle", .group = GROUP_LIMITS, .scope = OPTION_FOR_ALL, .kind = &value_seconds,
	 LIMIT_SECONDS, FIELD(flow_limits.tcp_idle_ns),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "expire an established connection after SECONDS idle"},
	{.name = "tcp-closing-idle", .group = GROUP_LIMITS, .scope = OPTION_FOR_ALL, .kind = &value_seconds,
	 LIMIT_SECONDS, FIELD(flow_limits.tcp_closing_ns),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "expire a closing connection (FIN captured) after SECONDS idle"},
	{.name = "udp-idle", .group = GROUP_LIMITS, .scope = OPTION_FOR_ALL, .kind = &value_seconds,
	 LIMIT_SECONDS, FIELD(flow_limits.udp_idle_ns),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "end a UDP stream after SECONDS idle"},

	{.name = "config", .short_name = 'c', .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_string,
	 .argument = "CONFIG", FIELD(config_path),
	 .help = "read settings from CONFIG (netobs.conf(5)); the command line overrides them"},
	{.name = "check-config", .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_flag,
	 FIELD(check_config),
	 .help = "check CONFIG and the command line, and exit"},
	{.name = "install-formulas", .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_string,
	 .argument = "PATH", FIELD(install_formulas),
	 .help = "write the probe sites of formulas to the file PATH, and exit"},
	{.name = "print-config", .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_flag,
	 FIELD(print_config),
	 .help = "print the effective settings in the form of CONFIG, and exit"},
	{.name = "user", .short_name = 'u', .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_user,
	 .argument = "USER", FIELD(run_as_user),
	 .source = OPTION_ANYWHERE,
	 .help = "when started as root, switch to USER before parsing (default netobs, else nobody)"},
	{.name = "no-seccomp", .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_inverted_flag,
	 FIELD(seccomp),
	 .source = OPTION_ANYWHERE,
	 .help = "do not install the system-call filter"},
	{.name = "control", .group = GROUP_GENERAL, .scope = OPTION_FOR_LIVE, .kind = &value_string, .argument = "PATH",
	 FIELD(control_path), .source = OPTION_ANYWHERE,
	 .help = "accept requests of netobsctl(8) on the Unix socket PATH"},
	{.name = "control-mode", .group = GROUP_GENERAL, .scope = OPTION_FOR_LIVE, .kind = &value_file_mode,
	 .argument = "MODE",
	 FIELD(control_mode), .source = OPTION_ANYWHERE,
	 .help = "octal mode of the control socket; write permission allows requests"},
	{.name = "control-group", .group = GROUP_GENERAL, .scope = OPTION_FOR_LIVE, .kind = &value_string,
	 .argument = "GROUP",
	 FIELD(control_group), .source = OPTION_ANYWHERE,
	 .help = "group of the control socket; default: the group of netobsd"},
	{.name = "metrics", .group = GROUP_GENERAL, .scope = OPTION_FOR_LIVE, .kind = &value_metrics,
	 .argument = "ADDRESS",
	 FIELD(metrics_address), .source = OPTION_ANYWHERE,
	 .help = "serve counters to Prometheus at unix:PATH, 127.0.0.1:PORT or [::1]:PORT"},
	{.name = "metrics-anywhere", .group = GROUP_GENERAL, .scope = OPTION_FOR_LIVE, .kind = &value_flag,
	 FIELD(metrics_allow_remote), .source = OPTION_ANYWHERE,
	 .help = "allow metrics on an address that other hosts can reach"},
	{.name = "probe-site", .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_probe_site,
	 .argument = "KIND",
	 .source = OPTION_ANYWHERE,
	 .help = "instruction at an enabled probe: plain (a trap), fast (a call) or auto"},
	{.name = "debug", .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_debug_topics,
	 .argument = "TOPIC,...", FIELD(debug_topics),
	 .source = OPTION_ANYWHERE, .change = OPTION_AT_RELOAD,
	 .help = "log debug messages on these topics (all, or config, live and others: netobsd(8))"},
	{.name = "foreground", .short_name = 'f', .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_flag,
	 FIELD(foreground),
	 .help = "no effect: netobsd always stays in the foreground"},
	{.name = "help", .short_name = 'h', .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_none,
	 .action = ACTION_HELP, .help = "show this help and exit"},
	{.name = "version", .short_name = 'V', .group = GROUP_GENERAL, .scope = OPTION_FOR_ALL, .kind = &value_none,
	 .action = ACTION_VERSION, .help = "show the versions of netobsd and its libraries and exit"},
};
/* clang-format on */

const size_t options_table_rows = sizeof options_table / sizeof options_table[0];

_Static_assert(sizeof options_table / sizeof options_table[0] <= OPTIONS_ROWS_MAX, "there is room for all options");

bool
config_set_defaults(struct config *config)
{
	*config = (struct config){
	    .interface_names = calloc(1, sizeof *config->interface_names),
	    .capture_paths = calloc(1, sizeof *config->capture_paths),
	    .formulas = calloc(1, sizeof *config->formulas),
	    .writes = calloc(1, sizeof *config->writes),
	    .observe_inner = true,
	    .lookup_owners = true,
	    .control_mode = 0660,
	    .seccomp = true,
	    .workers = 1,
	    .lead_in = UINT64_C(600000000000),
	    .app_timeout_ns = UINT64_C(5000000000),
	    .snaplen = 262144, /* as in tcpdump: larger than any frame except BIG TCP's */
	    .flow_limits = flow_limits_default(),
	};
	for (unsigned i = 0; i < APP_COUNT; i++)
		config->app_ports[i] = app_protocols[i]->ports;
	return config->interface_names != NULL && config->capture_paths != NULL && config->formulas != NULL &&
	       config->writes != NULL;
}

void
config_free(struct config *config)
{
	while (config->strings != NULL) {
		struct config_string *string = config->strings;

		config->strings = string->next;
		free(string);
	}
	free(config->interface_names);
	free(config->capture_paths);
	free(config->formulas);
	free(config->writes);
	free(config->local_prefixes);
	*config = (struct config){0};
}

const char *
options_strdup(struct config *config, const char *text)
{
	size_t size = strlen(text) + 1;
	struct config_string *kept = malloc(sizeof *kept + size);

	if (kept == NULL)
		return NULL;
	memcpy(kept->text, text, size);
	kept->next = config->strings;
	config->strings = kept;
	return kept->text;
}

const struct option_row *
options_find_setting(const char *name)
{
	for (size_t i = 0; i < options_table_rows; i++)
		if (options_table[i].source != OPTION_COMMAND_LINE && strcmp(options_table[i].name, name) == 0)
			return &options_table[i];
	return NULL;
}

bool
options_values_equal(const struct option_row *row, const struct config *a, const struct config *b)
{
	char buffer_a[OPTIONS_VALUE_MAX], buffer_b[OPTIONS_VALUE_MAX];

	for (size_t i = 0;; i++) {
		const char *one = row->kind->get(a, row, i, buffer_a), *other = row->kind->get(b, row, i, buffer_b);

		if (one == NULL || other == NULL)
			return one == other;
		if (strcmp(one, other) != 0)
			return false;
	}
}

#define HELP_COLUMN 34
#define HELP_WIDTH  80

const char *const option_group_titles[GROUP_COUNT] = {
    [GROUP_INPUT] = "Input",   [GROUP_VIEW] = "Point of view", [GROUP_OUTPUT] = "Output",
    [GROUP_LIMITS] = "Limits", [GROUP_GENERAL] = "General",
};

/* Prints words, the first one at `column`, and begins a line at HELP_COLUMN before a word that does not fit. */
static void
help_print_wrapped(FILE *to, int column, const char *words)
{
	bool first = true;

	while (*words != '\0') {
		int length = (int)strcspn(words, " ");

		if (!first && column + 1 + length > HELP_WIDTH) {
			fprintf(to, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", length, words);
		column += length;
		words += length + (words[length] == ' ');
		first = false;
	}
	fputc('\n', to);
}

static void
help_print_row(FILE *to, const struct option_row *row, const struct config *defaults)
{
	char letter[5] = "    ", value[64] = "", buffer[OPTIONS_VALUE_MAX], words[OPTIONS_VALUE_MAX + 256];
	const char *default_value = row->kind->toggle ? NULL : row->kind->get(defaults, row, 0, buffer);
	int width;

	if (row->short_name != 0)
		snprintf(letter, sizeof letter, "-%c, ", row->short_name);
	if (row->argument != NULL)
		snprintf(value, sizeof value, row->optional ? "[=%s]" : " %s", row->argument);
	width = fprintf(to, "  %s--%s%s", letter, row->name, value);
	width += fprintf(to, "%*s", width < HELP_COLUMN - 1 ? HELP_COLUMN - width : 1, "");
	if (default_value != NULL)
		snprintf(words, sizeof words, "%s (%s)", row->help, default_value);
	else
		snprintf(words, sizeof words, "%s", row->help);
	help_print_wrapped(to, width, words);
}

void
options_print_help(FILE *to)
{
	struct config defaults;

	if (!config_set_defaults(&defaults)) {
		config_free(&defaults);
		return;
	}
	fputs("Usage: netobsd -i IFACE... [OPTION...] [FILTER]   observe interfaces\n"
	      "       netobsd -r FILE... [OPTION...] [FILTER]    replay captures\n"
	      "FILTER is a pcap-filter(7) expression.  Defaults are in parentheses.\n",
	      to);
	for (unsigned group = 0; group < GROUP_COUNT; group++) {
		fprintf(to, "\n%s:\n", option_group_titles[group]);
		for (size_t i = 0; i < options_table_rows; i++)
			if (options_table[i].group == group && options_table[i].source != OPTION_CONFIG_FILE)
				help_print_row(to, &options_table[i], &defaults);
	}
	fputs("\nExit status: 0 success, 1 failure, 2 damaged capture file, 3 frames were\n"
	      "dropped (--strict).\n"
	      "See netobsd(8) for details and netobs(7) for the probes.\n",
	      to);
	config_free(&defaults);
}

/* Whether an option has a value other than 0 and false. */
static bool
options_row_is_set(const struct config *config, const struct option_row *row)
{
	char buffer[OPTIONS_VALUE_MAX];
	const char *value = row->kind->get(config, row, 0, buffer);

	return value != NULL && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

static bool
options_name_is_set(const struct config *config, const char *name)
{
	size_t i = 0;

	while (strcmp(options_table[i].name, name) != 0)
		i++;
	return options_row_is_set(config, &options_table[i]);
}

bool
options_check_needs(const struct config *config, const struct option_row *row, const char *dashes, char *list,
		    size_t size)
{
	size_t count = 0, used = 0;

	while (count < sizeof row->needs / sizeof row->needs[0] && row->needs[count] != NULL)
		count++;
	for (size_t i = 0; i < count; i++) {
		if (options_name_is_set(config, row->needs[i]))
			return true;
		used += (size_t)snprintf(list + used, size - used, "%s%s%s",
					 i == 0 ? "" : i + 1 < count ? ", " : " or ", dashes, row->needs[i]);
	}
	return count == 0 || (row->quantity.max > 0 && !options_row_is_set(config, row));
}

const char *
options_hint(const char *name, size_t length, bool settings, char hint[NEAREST_HINT_MAX])
{
	struct nearest nearest;

	nearest_begin(&nearest, name, length);
	for (size_t i = 0; i < options_table_rows; i++)
		if (options_table[i].source != (settings ? OPTION_COMMAND_LINE : OPTION_CONFIG_FILE))
			nearest_consider(&nearest, options_table[i].name);
	return nearest_hint(&nearest, settings ? "" : "--", hint);
}

/* Writes a string in double quotes, escaping what has a meaning there: quotes, escapes and ${ENVIRONMENT}. */
static void
config_print_quoted(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text != '\0'; text++) {
		if (strchr("\"\\$", *text) != NULL)
			fputc('\\', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

bool
config_is_quoted(const struct option_row *row)
{
	return !row->kind->toggle && row->max <= row->min && row->quantity.max == 0;
}

static void
config_print_value(FILE *to, const struct option_row *row, const char *value)
{
	if (config_is_quoted(row))
		config_print_quoted(to, value);
	else
		fputs(value, to);
}

bool
config_print_row(FILE *to, const struct option_row *row, const struct config *config)
{
	char buffer[OPTIONS_VALUE_MAX];
	const char *value = row->kind->get(config, row, 0, buffer);

	if (value == NULL)
		return false;
	fprintf(to, "%s = %s", row->name, row->kind->list ? "{" : "");
	for (size_t i = 0; (value = row->kind->get(config, row, i, buffer)) != NULL; i++) {
		if (i > 0)
			fputs(", ", to);
		config_print_value(to, row, value);
	}
	fputs(row->kind->list ? "}" : "", to);
	return true;
}

void
config_print(FILE *to, const struct config *config)
{
	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->source == OPTION_COMMAND_LINE)
			continue;
		if (!config_print_row(to, row, config))
			fprintf(to, "# %s is not set", row->name);
		fputc('\n', to);
	}
}
