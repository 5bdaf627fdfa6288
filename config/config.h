/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration of a run: filled from the command line and the configuration file, then passed around read-only.  Only
 * a reload (reload.h) may change it. */
#ifndef NETOBS_CONFIG_CONFIG_H
#define NETOBS_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/app.h"
#include "flow/flow.h"
#include "probes/print/print.h"
#include "probes/site/site_select.h"

/* The endpoints for which probes fire (--view in netobsd(8)). */
enum view_mode {
	VIEW_AUTO,    /* live: host; file: both, unless the file records directions or local prefixes are configured */
	VIEW_HOST,    /* the endpoints that belong to this host or a local prefix */
	VIEW_BOTH,    /* every endpoint is local */
	VIEW_MONITOR, /* every frame is received once */
};

/* An address prefix that counts as local. */
struct ip_prefix {
	uint8_t addr[16]; /* network order, IPv4 in the first four bytes */
	uint8_t version;  /* 4 or 6 */
	uint8_t bits;	  /* 0 to 32 or 128 */
};

/* A string that is freed with the configuration. */
struct config_string {
	struct config_string *next;
	char text[];
};

struct config {
	int argc; /* the command line, parsed again on a reload */
	char **argv;
	const char *config_path;	 /* netobs.conf(5), NULL for none */
	bool check_config, print_config; /* --check-config, --print-config */
	const char *install_formulas;	 /* file with the probe sites of formulas to write, NULL for none */
	const char *run_as_user;	 /* user to run as after opening everything, NULL for the default */
	bool seccomp;			 /* filter system calls */
	const char *control_path;	 /* path of the control socket, NULL for none */
	uint32_t control_mode;		 /* its permissions */
	const char *control_group;	 /* its group, NULL for the process's own */
	const char *metrics_address;	 /* address of the metrics server, NULL for none */
	bool metrics_allow_remote;	 /* the metrics address need not be local */
	struct config_string *strings;
	const char **interface_names; /* NULL-terminated; empty when replaying */
	const char **capture_paths;   /* NULL-terminated; "-" is standard input */
	const char *filter;	      /* pcap-filter(7), NULL for everything */
	enum view_mode view;
	struct ip_prefix *local_prefixes;
	size_t local_prefix_count;
	bool lookup_owners;    /* live: look up the processes that own local sockets */
	bool lookup_all_users; /* also sockets of other users, which requires capabilities */
	bool wait_owners;      /* wait for them, briefly, before the first firing of a connection */
	bool observe_inner;    /* tunnelled packets fire as packets of their own */
	int snaplen;	       /* bytes */
	int kernel_buffer;     /* kernel buffer per interface, bytes; 0 for the default */
	uint32_t workers;      /* threads that capture; in a replay, one observes and the others decompress */
	bool promiscuous, immediate;
	uint64_t from, to;    /* replay: window of packet time, ns since the epoch; 0: no limit */
	uint64_t lead_in;     /* replay: time before the window in which packets are observed but no probe fires, ns */
	double replay_speed; /* replay speed, 1.0 as recorded; 0 as fast as possible */
	bool on_demand;	     /* capture only while a tracer is attached */
	bool wait_tracer;
	double wait_timeout; /* seconds, 0: no limit */
	bool wait_done; /* --wait-probes: a tracer must enable wait-done of netobs_engine, too */
	const char *wait_probes; /* comma-separated names and wildcards that a tracer must enable; NULL for any probe */
	enum print_format print;
	const char *print_probes; /* comma-separated names and wildcards; NULL for all */
	const char **formulas;	  /* NULL-terminated definitions, each of which compiles */
	const char *formula_file; /* file of the formulas' probe sites; NULL: a temporary one */
	bool records;		     /* records of connections are written */
	const char *records_path;    /* NULL: standard output */
	enum print_format records_format; /* PRINT_OFF: that of the kind of output */
	const char *records_where;   /* expression that selects records; NULL: all */
	const char *print_fields;    /* --print-fields: comma-separated names; NULL: whole lines */
	const char *records_fields;  /* comma-separated names; NULL: the default */
	const char *records_sort;    /* name of a field, perhaps after "-"; NULL: by end */
	uint32_t records_limit;	     /* most records that are written, 0: all */
	bool records_services;	     /* in place of records, a table of the services of these connections */
	const char **writes;	     /* NULL-terminated, each NAME=FILE: captures of connections to write */
	unsigned write_format;	     /* enum capture_format of these */
	uint64_t active_records_ns; /* interval at which an open connection is reported, ns; 0 never */
	uint64_t flight_memory;	    /* bytes of the flight memory, of all workers together; 0: none */
	uint32_t flight_snap;	    /* most bytes of a frame that it keeps, 0: all that are captured */
	uint64_t flight_bytes;	    /* most bytes of each direction of a connection that it keeps, 0: no limit */
	uint32_t closed_connections; /* records of connections that have ended to keep, 0: none */
	bool list_probes;
	bool list_engine; /* those of netobs_engine */
	enum print_format list_format;
	bool summary, strict, foreground;
	uint32_t debug_topics; /* enabled at start: a set as in log.h */
	enum site_kind probe_site;
	struct flow_limits flow_limits;
	struct app_ports app_ports[APP_COUNT]; /* by enum app_id */
	bool ports_only;		       /* protocols are not recognised by first bytes */
	uint64_t app_timeout_ns;	       /* after which a request counts as not answered */
};

/* Whether records of connections are kept from the start: for an output of them, for requests, or for the metrics. */
static inline bool
config_keeps_records(const struct config *config)
{
	return config->records || config->closed_connections != 0 || config->metrics_address != NULL;
}

#endif
