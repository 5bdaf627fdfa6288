/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame sources, files and interfaces, and what they share. */
#ifndef NETOBS_CAPTURE_INPUT_H
#define NETOBS_CAPTURE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "config/config.h"
#include "host/interfaces.h"

struct batch;
struct config;
struct interface;

enum input_result {
	INPUT_DONE,    /* everything has been read, or the loop was stopped */
	INPUT_DAMAGED, /* the input ended early; everything before was observed, and a message is logged */
	INPUT_FAILED,  /* nothing is left to read; a message is logged */
};

/* Counters are 64 bits wide, and never wrap in practice. */
struct input_counters {
	uint64_t received; /* live: frames that passed the filter, including dropped ones */
	/* Frames dropped because the kernel's buffer was full (live: of the received ones), and frames dropped by the
	 * interface, before any filter.  Files: by the statistics in them. */
	uint64_t dropped, interface_dropped;
	uint64_t filtered;    /* files: frames rejected by the filter */
	uint64_t unsupported; /* files: frames of interfaces whose link type is not supported */
	uint64_t damaged;     /* files that ended early */
};

enum input_interface_state {
	INTERFACE_UP,
	INTERFACE_DOWN,
	INTERFACE_REMOVED, /* waiting for it to return */
	INTERFACE_REFUSED, /* has returned, but netobsd no longer has the permission to open it */
	INTERFACE_STATES
};

/* An observed interface. */
struct input_interface {
	const struct interface *interface;
	int link_type; /* a DLT_ value */
	enum input_interface_state state;
	uint64_t received, dropped, interface_dropped; /* as in struct input_counters */
	uint64_t times_removed;			       /* times the interface was removed */
};

typedef void input_visitor(void *context, const struct input_interface *interface);

struct input;

struct input_ops {
	/* Reads what precedes the frames.  This parses untrusted bytes, so privileges are dropped after opening and
	 * before this call.  False with a message logged. */
	bool (*start)(struct input *input);
	/* Link types (DLT_ values) of all files or interfaces, available after start(); some may be repeated.  A pcapng
	 * file may have further ones after its first frame.  The array belongs to the input. */
	const int *(*link_types)(const struct input *input, size_t *count);
	/* Passes every frame to the batch until there are no more or the loop is stopped.  Called once. */
	enum input_result (*run)(struct input *input, struct batch *batch);
	/* The filter in the configuration has changed.  Applies it to every file or interface, or, with a message
	 * logged and false, to none. */
	bool (*set_filter)(struct input *input, const struct config *config);
	/* Updates the counters and returns them. */
	const struct input_counters *(*counters)(struct input *input);
	/* Calls `visit` for every interface, in the order of the configuration.  NULL for inputs without interfaces
	 * (files). */
	void (*visit)(struct input *input, input_visitor *visit, void *context);
	void (*free)(struct input *input);
};

struct input {
	const struct input_ops *ops;
};

static inline bool
input_start(struct input *input)
{
	return input->ops->start(input);
}

static inline const int *
input_link_types(const struct input *input, size_t *count)
{
	return input->ops->link_types(input, count);
}

static inline enum input_result
input_run(struct input *input, struct batch *batch)
{
	return input->ops->run(input, batch);
}

static inline bool
input_set_filter(struct input *input, const struct config *config)
{
	return input->ops->set_filter(input, config);
}

static inline const struct input_counters *
input_counters(struct input *input)
{
	return input->ops->counters(input);
}

static inline void
input_visit_interfaces(struct input *input, input_visitor *visit, void *context)
{
	if (input->ops->visit != NULL)
		input->ops->visit(input, visit, context);
}

static inline void
input_free(struct input *input)
{
	if (input != NULL)
		input->ops->free(input);
}

/* ----------------------------------------------------------------------------------------------------------- replay */

/* Replays capture files: pcap and pcapng, plain or compressed, several merged in time order, at any speed. */

/* Opens every configured file without reading; input_start() reads, and compiles the filter for each file.  NULL, with
 * a message logged, if a file cannot be opened. */
struct input *replay_open(const struct config *config, struct loop *loop);

/* ------------------------------------------------------------------------------------------------------------- live */

/* Captures from interfaces in an event loop.  If an interface goes down, is renamed or is removed, the other interfaces
 * are still observed and netobsd waits for its return. */

struct fanout;

/* Share of one input if there are several workers. */
struct live_partition {
	unsigned number;       /* number of the input, from 0; only number 0 logs changes of interfaces */
	struct fanout *fanout; /* borrowed; NULL if there is only one input */
	bool may_reopen;       /* the capability to open interfaces is kept: those that are absent are awaited */
};

/* Opens every configured interface.  `interfaces` is borrowed, and its changes are subscribed to; it names the real
 * interfaces of frames on "any".  NULL, with a message logged, if an interface can neither be observed nor awaited. */
struct input *live_open(const struct config *config, struct loop *loop, struct interfaces *interfaces,
			const struct live_partition *partition);

#endif
