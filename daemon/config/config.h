/* SPDX-License-Identifier: BSD-2-Clause */
/* What one run of netobsd was asked to do: filled from the command line and the configuration file, then passed around
 * read-only.  Options that may change while it runs are replaced by reload.h only. */
#ifndef NETOBS_DAEMON_CONFIG_CONFIG_H
#define NETOBS_DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/flow.h"
#include "probes/print/print.h"
#include "probes/site/site_select.h"

/* Whose point of view is reported (probes.md calls it the view). */
enum view_kind {
	VIEW_AUTO,    /* host when live; both for a file, unless it tells directions or local prefixes are given */
	VIEW_HOST,    /* the endpoints that belong to this host or a local prefix */
	VIEW_BOTH,    /* every endpoint is local */
	VIEW_MONITOR, /* every frame is received once */
};

/* An address prefix that counts as local. */
struct prefix {
	uint8_t addr[16]; /* network order, IPv4 in the first four bytes */
	uint8_t version;  /* 4 or 6 */
	uint8_t bits;	  /* 0 to 32 or 128 */
};

/* A piece of text that lives as long as the configuration. */
struct config_text {
	struct config_text *next;
	char text[];
};

/* The ports of an application provider. */
#define PORTS_MAX 8

struct port_list {
	uint16_t port[PORTS_MAX];
	uint8_t count;
};

struct config {
	int argc;		 /* the command line, to be read again when the file is */
	char **argv;
	const char *file;	 /* netobs.conf(5), NULL for none */
	bool check, show;	 /* --check-config, --print-config */
	const char *user;	 /* whom to become after opening everything, NULL for the default */
	bool seccomp;		 /* filter system calls */
	const char *control;	 /* path of the control socket, NULL for none */
	uint32_t control_mode;	 /* its permissions */
	const char *control_group; /* its group, NULL for ours */
	const char *metrics;	 /* where metrics are served, NULL for nowhere */
	bool metrics_anywhere;	 /* that may be where others can reach it */
	struct config_text *texts;
	const char **interfaces; /* NULL-terminated; empty when replaying */
	const char **files;	 /* NULL-terminated; "-" is standard input */
	const char *filter;	 /* pcap-filter(7), NULL for everything */
	enum view_kind view;
	struct prefix *locals;
	size_t local_count;
	bool owners;		/* live: look up the processes behind local sockets */
	bool all_owners;	/* those of other users too, which takes capabilities */
	bool inner;		/* tunnelled packets fire as packets of their own */
	int snaplen;		/* bytes */
	int buffer;		/* kernel buffer per interface, bytes; 0 for the default */
	uint32_t workers;	/* live: threads that capture */
	bool promiscuous, immediate;
	double pace;		/* replay speed, 1.0 as recorded; 0 as fast as possible */
	bool on_demand;		/* capture only while a tracer is attached */
	bool wait_tracer;
	double wait_seconds;	/* 0: for ever */
	enum print_format print;
	const char *print_probes; /* comma-separated names and wildcards; NULL for all */
	bool list_probes;
	enum print_format list_format;
	bool summary, strict, foreground;
	enum site_kind site;
	struct flow_limits limits;
	struct port_list iscsi_ports;
};

#endif
