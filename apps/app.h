/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Application providers: protocols on byte streams and datagrams whose messages have probes.
 *
 * Each protocol has a row in apps/app.def and a folder apps/PROTOCOL/ with its messages, its reader, the functions that
 * fire and print its probes, and one struct app_protocol.  CONTRIBUTING.md explains how to add one.
 */
#ifndef NETOBS_APPS_APP_H
#define NETOBS_APPS_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/stream/app_flow.h"
#include "probes/print/text_line.h"

struct emitter;

/* Index of a protocol in app_protocols and of its ports in the configuration. */
enum app_id {
#define APP(symbol, name, help) APP_##symbol,
#include "apps/app.def"
#undef APP
	APP_COUNT
};

/* Ports on which connections are read as one protocol. */
#define APP_PORTS_MAX 8

struct app_ports {
	uint16_t port[APP_PORTS_MAX]; /* host order */
	uint8_t count;
};

struct app_protocol {
	const char *name;	       /* prefix of its probe names, up to the first hyphen */
	struct app_ports ports;	       /* default; the configuration may replace them */
	const struct app_reader *reader;
	bool names;		       /* its reader gives connections a name */
	enum probe_id first, last;     /* its probes, which are consecutive in probes/netobs.d */
	void (*fire)(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);
	struct text_family text;       /* its lines in --print */
};

#define APP(symbol, name, help) extern const struct app_protocol name##_app;
#include "apps/app.def"
#undef APP

extern const struct app_protocol *const app_protocols[APP_COUNT];

/* Whether any probe of the protocol is enabled. */
bool app_probes_enabled(const struct app_protocol *protocol);

/* Parts of a line of --print, after a word: a text, unless it is empty; a number; a time, unless it is negative. */
char *app_put_text(char *at, const char *word, const char *text, size_t size);
char *app_put_number(char *at, const char *word, uint64_t number);
char *app_put_time(char *at, const char *word, int64_t us);
#define APP_PUT_TEXT(at, word, field) app_put_text((at), (word), (field), sizeof(field))

/* Makes the printer print the probes of all protocols with their own formatters.  Call it once, before a printer is
 * made. */
void app_register_text(void);

#endif
