/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config_file.h"
#include "config/config_print.h"
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
	{.name = "split", .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_uint32,
	 .argument = "NUMBER", .min = 1, .max = 9999, FIELD(split),
	 .help = "write the frames to NUMBER captures, each connection whole in one of them, and exit"},
	{.name = "prefix", .short_name = 'w', .group = GROUP_INPUT, .scope = OPTION_FOR_FILES, .kind = &value_string,
	 .argument = "PREFIX", FIELD(write_prefix),
	 .help = "the captures of --split are PREFIX-0001-of-0007.pcapng and so on"},
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
	 .help = "print only these fields of a firing, in this order"},
	{.name = "format", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_format, .argument = "FORMAT",
	 .source = OPTION_ANYWHERE,
	 .help = "format of --print, --records and --list-probes: text or json"},
	{.name = "records", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_records,
	 .argument = "FILE", .optional = true, FIELD(records_path),
	 .source = OPTION_ANYWHERE,
	 .help = "write a record of each connection: a table to standard output (-), or JSON lines to FILE"},
	{.name = "records-where", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_record_filter,
	 .argument = "EXPRESSION", FIELD(records_where),
	 .source = OPTION_ANYWHERE,
	 .help = "write only records for which EXPRESSION is true (netobs(7), FORMULAS)"},
	{.name = "records-fields", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_record_fields,
	 .argument = "FIELD,...", FIELD(records_fields),
	 .source = OPTION_ANYWHERE,
	 .help = "write only these fields of connrec_t, in this order"},
	{.name = "records-sort", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_record_order,
	 .argument = "FIELD", FIELD(records_sort),
	 .help = "write records at the end, sorted by FIELD, large numbers first; -FIELD reverses the order"},
	{.name = "records-limit", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_uint32,
	 .argument = "NUMBER", .min = 1, .max = 4294967295.0, FIELD(records_limit),
	 .help = "write at most the first NUMBER records of the order, at the end"},
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
	 .help = "keep at most BYTES of each frame; 0: all that are captured"},
	{.name = "flight-bytes", .group = GROUP_OUTPUT, .scope = OPTION_FOR_ALL, .kind = &value_size,
	 .argument = "SIZE", .quantity = {DIMENSION_SIZE, 1, 1, 1125899906842624, true}, FIELD(flight_bytes),
	 .source = OPTION_ANYWHERE,
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
	{.name = "metrics", .group = GROUP_GENERAL, .scope = OPTION_FOR_LIVE, .kind = &value_string,
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

#define ROWS (sizeof options_table / sizeof options_table[0])

const size_t options_table_rows = ROWS;

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
	for (size_t i = 0; i < ROWS; i++)
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

/* Builds the tables for getopt_long().  A row's value is 256 + its index; short options have the value of their
 * letter. */
static void
options_make_getopt_tables(struct option *longs, char *shorts)
{
	*shorts++ = ':'; /* getopt_long() then distinguishes a missing value from an unknown option */
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &options_table[i];
		int has = row->argument == NULL ? no_argument : row->optional ? optional_argument : required_argument;

		if (row->source == OPTION_CONFIG_FILE)
			continue;
		*longs++ = (struct option){.name = row->name, .has_arg = has, .val = 256 + (int)i};
		if (row->short_name == 0)
			continue;
		*shorts++ = row->short_name;
		if (has == required_argument)
			*shorts++ = ':';
	}
	*longs = (struct option){0};
	*shorts = '\0';
}

static const struct option_row *
options_find_by_value(int value)
{
	if (value >= 256 && value < 256 + (int)ROWS)
		return &options_table[value - 256];
	for (size_t i = 0; i < ROWS; i++)
		if (options_table[i].short_name != 0 && options_table[i].short_name == value)
			return &options_table[i];
	return NULL;
}

/* Logs what '?' from getopt_long() means: an unknown or ambiguous option, or a value for an option that takes none. */
static void
options_log_unknown(char **argv)
{
	const struct option_row *row = optopt != 0 ? options_find_by_value(optopt) : NULL;
	char hint[NEAREST_HINT_MAX];

	if (row != NULL)
		log_error("--%s takes no value", row->name);
	else if (optopt != 0)
		log_error("unknown option -%c; netobsd --help lists the options", optopt);
	else if (strncmp(argv[optind - 1], "--record", strlen("--record")) == 0 &&
		 strchr("=", argv[optind - 1][strlen("--record")]) != NULL)
		log_error("unknown option --record: use --write NAME=FILE");
	else
		log_error("unknown or ambiguous option %s%s; netobsd --help lists the options", argv[optind - 1],
			  options_hint(argv[optind - 1] + 2, strcspn(argv[optind - 1] + 2, "="), false, hint));
}

/* Joins the arguments behind the options into the filter. */
static bool
options_join_filter(int argc, char **argv, struct config *config)
{
	size_t length = 1;
	char *joined, *at;

	for (int i = optind; i < argc; i++)
		length += strlen(argv[i]) + 1;
	joined = at = malloc(length);
	if (joined != NULL) {
		for (int i = optind; i < argc; i++) {
			at = stpcpy(at, argv[i]);
			if (i + 1 < argc)
				*at++ = ' ';
		}
		*at = '\0';
		config->filter = options_strdup(config, joined);
		free(joined);
	}
	if (joined == NULL || config->filter == NULL)
		log_error("out of memory");
	return config->filter != NULL;
}

/* Rejects options for one kind of input that were given with the other. */
static bool
options_check_scope(const struct config *config, const bool given[ROWS])
{
	enum options_scope wrong = config->interface_names[0] != NULL ? OPTION_FOR_FILES : OPTION_FOR_LIVE;

	for (size_t i = 0; i < ROWS; i++) {
		if (given[i] && options_table[i].scope == wrong) {
			log_error("--%s is for %s", options_table[i].name,
				  wrong == OPTION_FOR_LIVE ? "interfaces (-i), not for files"
							   : "files (-r), not for interfaces");
			return false;
		}
	}
	return true;
}

static bool
options_check_standard_input(const struct config *config)
{
	unsigned times = 0;

	for (size_t i = 0; config->capture_paths[i] != NULL; i++)
		times += strcmp(config->capture_paths[i], "-") == 0;
	if (times > 1)
		log_error("standard input (-r -) can be read only once");
	return times <= 1;
}

static bool
options_check_print(const struct config *config)
{
	if (config->list_format != PRINT_OFF && config->print == PRINT_OFF && !config->list_probes &&
	    !config->records) {
		log_error("--format needs --print, --records or --list-probes");
		return false;
	}
	if (config->print_fields != NULL && config->print == PRINT_OFF) {
		log_error("--print-fields needs --print");
		return false;
	}
	return true;
}

static bool
options_check_records(const struct config *config)
{
	const char *without = config->records_where != NULL    ? "where"
			      : config->records_fields != NULL ? "fields"
			      : config->records_sort != NULL   ? "sort"
			      : config->records_limit != 0     ? "limit"
							       : NULL;

	if (config->records && config->records_path == NULL && config->print != PRINT_OFF) {
		log_error("--print and --records cannot both write to standard output: give a file, --records=FILE");
		return false;
	}
	if (config->records || without == NULL)
		return true;
	log_error("--records-%s needs --records", without);
	return false;
}

/* Whether the command line contains an option. */
static bool
options_are_given(const bool given[ROWS], const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(options_table[i].name, name) == 0)
			return given[i];
	return false;
}

/* Checks --split, which replaces a replay. */
static bool
options_check_split(const struct config *config, const bool given[ROWS])
{
	static const char *const excluded[] = {"print", "records", "pace", "wait-tracer", "wait-probes",
					       "from", "to", "lead-in", "write"};

	if (config->split == 0 && config->write_prefix != NULL) {
		log_error("-w needs --split");
		return false;
	}
	if (config->split == 0)
		return true;
	if (config->write_prefix == NULL) {
		log_error("--split needs -w PREFIX, for the names of the captures");
		return false;
	}
	for (size_t i = 0; i < sizeof excluded / sizeof excluded[0]; i++) {
		if (options_are_given(given, excluded[i])) {
			log_error("--split only writes captures: --%s is for their replay", excluded[i]);
			return false;
		}
	}
	return true;
}

static bool
options_check_writes(const struct config *config, const bool given[ROWS])
{
	if (config->writes[0] == NULL) {
		if (options_are_given(given, "write-format"))
			log_error("--write-format needs --write");
		return !options_are_given(given, "write-format");
	}
	if (config->interface_names[0] != NULL) {
		log_error("--write is for files (-r): netobsctl write --on writes connections of interfaces");
		return false;
	}
	return true;
}

static bool
options_check_flight(const struct config *config)
{
	if (config->flight_memory == 0 && (config->flight_snap != 0 || config->flight_bytes != 0)) {
		log_error("--flight-%s needs --flight-memory", config->flight_snap != 0 ? "snap" : "bytes");
		return false;
	}
	return true;
}

static bool
options_check_window(const struct config *config, const bool given[ROWS])
{
	if (options_are_given(given, "to") && config->to <= config->from) {
		log_error("--to must be later than --from");
		return false;
	}
	if (options_are_given(given, "lead-in") && !options_are_given(given, "from")) {
		log_error("--lead-in needs --from");
		return false;
	}
	return true;
}

/* Checks options against each other. */
static bool
options_check_combination(struct config *config, const bool given[ROWS])
{
	bool live = config->interface_names[0] != NULL, files = config->capture_paths[0] != NULL;

	if (config->list_engine && !config->list_probes) {
		log_error("--engine needs --list-probes");
		return false;
	}
	if (!options_check_print(config) || !options_check_records(config))
		return false;
	config->records_format = config->list_format;
	if (config->list_format == PRINT_OFF)
		config->list_format = PRINT_TEXT;
	if (config->print != PRINT_OFF)
		config->print = config->list_format;
	if (config->snaplen == 0)
		config->snaplen = 262144;
	if (config->list_probes || config->print_config || config->install_formulas != NULL)
		return true;
	if (live && files) {
		log_error("either interfaces (-i) or files (-r) can be observed, not both");
		return false;
	}
	if (!live && !files) {
		log_error("nothing to observe: give an interface (-i IFACE) or a capture file (-r FILE); "
			  "see netobsd --help");
		return false;
	}
	return options_check_writes(config, given) && options_check_scope(config, given) &&
	       options_check_standard_input(config) &&
	       options_check_split(config, given) && options_check_window(config, given) &&
	       options_check_flight(config);
}

/* Checks the values of the command line that may depend on others, or on the file. */
static bool
options_check_values(const struct config *config, const bool given[ROWS])
{
	char error[256], buffer[OPTIONS_VALUE_MAX];
	const char *value;

	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &options_table[i];

		if (!given[i] || row->kind->check == NULL || row->kind->check(config, row, error, sizeof error))
			continue;
		if (row->kind->list || (value = row->kind->get(config, row, 0, buffer)) == NULL)
			log_error("--%s: %s", row->name, error);
		else
			log_error("--%s %s: %s", row->name, value, error);
		return false;
	}
	return true;
}

/* Applies one option.  OPTIONS_RUN: continue. */
static enum options_result
options_apply_row(const struct option_row *row, struct config *config)
{
	const char *value = optarg != NULL ? optarg : "";
	char error[256];

	if (row->action == ACTION_VERSION)
		return OPTIONS_VERSION;
	if (row->action == ACTION_HELP) {
		options_print_help(stdout);
		return OPTIONS_DONE;
	}
	if (row->kind->set(config, row, optarg, error, sizeof error))
		return OPTIONS_RUN;
	log_error("--%s%s%s: %s", row->name, *value != '\0' ? " " : "", value, error);
	return OPTIONS_INVALID;
}

/* Parses the command line and marks the rows that it contains in `given`. */
static enum options_result
options_parse_command_line(int argc, char **argv, struct config *config, bool given[ROWS])
{
	struct option longs[ROWS + 1];
	char shorts[2 * ROWS + 2];
	int value;

	options_make_getopt_tables(longs, shorts);
	opterr = 0; /* netobsd prints its own messages */
	optind = 0; /* restart getopt, also for a second parse */
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = options_find_by_value(value == ':' ? optopt : value);
		enum options_result result;

		if (value == '?' || row == NULL) {
			options_log_unknown(argv);
			return OPTIONS_INVALID;
		}
		if (value == ':') {
			log_error("--%s needs a value: %s", row->name, row->argument);
			return OPTIONS_INVALID;
		}
		result = options_apply_row(row, config);
		if (result != OPTIONS_RUN)
			return result;
		given[row - options_table] = true;
	}
	if (optind == argc)
		return OPTIONS_RUN;
	given[options_find_setting("filter") - options_table] = true;
	return options_join_filter(argc, argv, config) ? OPTIONS_RUN : OPTIONS_INVALID;
}

/* Reads the file for options that the command line does not set.  Files to replay replace the interfaces configured for
 * the service. */
static bool
options_read_config_file(struct config *config, const bool given[ROWS])
{
	bool overridden[ROWS];

	if (config->config_path == NULL)
		return true;
	memcpy(overridden, given, sizeof overridden);
	if (config->capture_paths[0] != NULL)
		overridden[options_find_setting("interface") - options_table] = true;
	return config_file_read(config->config_path, config, overridden);
}

enum options_result
options_parse(int argc, char **argv, struct config *config)
{
	bool given[ROWS] = {false};
	enum options_result result;

	if (!config_set_defaults(config)) {
		log_error("out of memory");
		return OPTIONS_INVALID;
	}
	config->argc = argc;
	config->argv = argv;
	result = options_parse_command_line(argc, argv, config, given);
	if (result != OPTIONS_RUN)
		return result;
	if (!options_read_config_file(config, given) || !options_check_values(config, given) ||
	    !options_check_combination(config, given))
		return OPTIONS_INVALID;
	if (config->print_config)
		config_print(stdout, config);
	return config->print_config || config->check_config ? OPTIONS_DONE : OPTIONS_RUN;
}
